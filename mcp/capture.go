package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// capture holds the answer to one request as the server sent it. The
// library's own types lose parts of schemas and refuse unknown content.
type capture struct {
	answered bool
	result   json.RawMessage
	refusal  *protocol.JSONRPCErrorDetails
}

type captureKey struct{}

func withCapture(ctx context.Context) (context.Context, *capture) {
	c := new(capture)
	return context.WithValue(ctx, captureKey{}, c), c
}

// captureTransport keeps raw answers and denies what servers ask of clients.
type captureTransport struct {
	transport.Interface
	late time.Duration // how long the answer to a cancelled call is waited for
}

func (t captureTransport) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if t.late > 0 && r.Method == string(protocol.MethodToolsCall) {
		var done func()
		ctx, done = t.outlive(ctx, r.ID)
		defer done()
	}
	response, err := t.Interface.SendRequest(ctx, r)
	if c, ok := ctx.Value(captureKey{}).(*capture); ok && err == nil && response != nil {
		*c = capture{answered: true, result: response.Result, refusal: response.Error}
		if r.Method == string(protocol.MethodToolsCall) && response.Error == nil {
			response.Result = noContent
		}
	}
	return response, err
}

// noContent is what the library gets in place of a tool's result: it would decode all of
// it for nothing, and repeat the call if the result asks for input.
var noContent = json.RawMessage(`{"content":[]}`)

// outlive gives a context that ends some time after parent, for a call whose server is
// told at the end of parent that it is cancelled.
func (t captureTransport) outlive(parent context.Context, id protocol.RequestId) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		time.AfterFunc(t.late, cancel)
		params := protocol.NotificationParams{AdditionalFields: map[string]any{"requestId": id}}
		_ = t.Interface.SendNotification(ctx, protocol.JSONRPCNotification{JSONRPC: protocol.JSONRPC_VERSION, // whoever does not read it does not answer either
			Notification: protocol.Notification{Method: string(protocol.MethodNotificationCancelled), Params: params}})
	})
	return ctx, func() { stop(); cancel() }
}

// SendNotification leaves out what outlive has said already.
func (t captureTransport) SendNotification(ctx context.Context, n protocol.JSONRPCNotification) error {
	if t.late > 0 && n.Method == string(protocol.MethodNotificationCancelled) {
		return nil
	}
	return t.Interface.SendNotification(ctx, n)
}

// SetRequestHandler lets only ping through: sampling, elicitation and roots are not offered.
func (t captureTransport) SetRequestHandler(handler transport.RequestHandler) {
	inner, ok := t.Interface.(transport.BidirectionalInterface)
	if !ok {
		return
	}
	inner.SetRequestHandler(func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		if r.Method == string(protocol.MethodPing) {
			return handler(ctx, r)
		}
		return transport.NewJSONRPCErrorResponse(r.ID, protocol.METHOD_NOT_FOUND, "not offered", nil), nil
	})
}

// captureHTTP is a captureTransport that the library recognises as HTTP.
type captureHTTP struct {
	captureTransport
}

func (t captureHTTP) SetProtocolVersion(version string) {
	if inner, ok := t.Interface.(transport.HTTPConnection); ok {
		inner.SetProtocolVersion(version)
	}
}
