package mcp

import (
	"context"
	"encoding/json"

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
}

func (t captureTransport) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := t.Interface.SendRequest(ctx, r)
	if c, ok := ctx.Value(captureKey{}).(*capture); ok && err == nil && response != nil {
		*c = capture{answered: true, result: response.Result, refusal: response.Error}
	}
	return response, err
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
