package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"agent/internal/sanitize"
)

// Client posts spans to a collector, by OTLP/HTTP in JSON.
type Client struct {
	Endpoint string // without a path /v1/traces is added, as OTEL_EXPORTER_OTLP_ENDPOINT has it
	Headers  map[string]string
}

// Answer is the error of a collector that did not take spans.
type Answer struct {
	Status int
	Text   string
	After  time.Duration // how long it wants to be left alone
}

func (a *Answer) Error() string {
	return fmt.Sprintf("the collector answered %d: %s", a.Status, a.Text)
}

// temporary tells whether the same spans may be taken later, by the specification of OTLP/HTTP.
func (a *Answer) temporary() bool {
	switch a.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// address is where spans are posted to.
func (c Client) address() (string, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return "", fmt.Errorf("the endpoint is not a URL")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// collector follows no redirect: the headers are for the configured host.
var collector = &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Post sends a request. Without spans it only tells whether the collector is there.
func (c Client) Post(ctx context.Context, data []byte) error {
	address, err := c.address()
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte(`{"resourceSpans":[]}`)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range c.Headers {
		request.Header.Set(name, value)
	}
	response, err := collector.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if response.StatusCode/100 != 2 {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return &Answer{response.StatusCode, sanitize.Line(string(body), 200), time.Duration(min(max(seconds, 0), 600)) * time.Second}
	}
	return rejected(body)
}

// rejected is an error if the collector took only some of the spans.
func rejected(body []byte) error {
	var answer struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"`
			ErrorMessage  string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	_ = json.Unmarshal(body, &answer) // what is no JSON says nothing
	if n := answer.PartialSuccess.RejectedSpans.String(); n != "" && n != "0" {
		return &Answer{http.StatusOK, sanitize.Line(n+" spans rejected: "+answer.PartialSuccess.ErrorMessage, 200), 0}
	}
	return nil
}

// Send posts the spans of the whole context and gives their number.
func (s Source) Send(ctx context.Context, c Client) (sent int, err error) {
	var failed error
	damage := s.batches(func(data []byte, n int) bool {
		if failed = c.Post(ctx, data); failed == nil {
			sent += n
		}
		return failed == nil
	})
	if failed != nil {
		return sent, failed
	}
	return sent, damage
}
