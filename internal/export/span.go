package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The structs below are the JSON form of OTLP traces (opentelemetry-proto,
// trace/v1/trace.proto): ids are hex, 64-bit integers are strings, enums are numbers.
// TestSpansAreOTLP reads them with the protocol's own types.

type tracesData struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope     scope  `json:"scope"`
	Spans     []Span `json:"spans"`
	SchemaURL string `json:"schemaUrl"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Span is one operation of a run.
type Span struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Events     []spanEvent `json:"events,omitempty"`
	Links      []link      `json:"links,omitempty"`
	Status     *status     `json:"status,omitempty"`
}

type spanEvent struct {
	Time       string      `json:"timeUnixNano"`
	Name       string      `json:"name"`
	Attributes []attribute `json:"attributes,omitempty"`
}

type link struct {
	TraceID string `json:"traceId"`
	SpanID  string `json:"spanId"`
}

type status struct {
	Message string `json:"message,omitempty"`
	Code    int    `json:"code"`
}

const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
	schemaURL    = "https://opentelemetry.io/schemas/1.41.0"
)

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value has exactly one field that is set.
type value struct {
	String *string  `json:"stringValue,omitempty"`
	Int    *string  `json:"intValue,omitempty"`
	Double *float64 `json:"doubleValue,omitempty"`
	Array  *array   `json:"arrayValue,omitempty"`
}

type array struct {
	Values []value `json:"values"`
}

func text(s string) value {
	s = strings.ToValidUTF8(s, "\ufffd")
	return value{String: &s}
}

func attr(key, s string) attribute { return attribute{key, text(s)} }

func number(key string, n int) attribute {
	s := strconv.Itoa(n)
	return attribute{key, value{Int: &s}}
}

func double(key string, f float64) attribute { return attribute{key, value{Double: &f}} }

// set adds an attribute unless its text is empty.
func set(all *[]attribute, key, s string) {
	if s != "" {
		*all = append(*all, attr(key, s))
	}
}

func nano(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// traceOf is the trace of a context: the 16 bytes of its uuid, so that whoever has one
// finds the other.
func traceOf(uuid string) string {
	id := strings.ReplaceAll(uuid, "-", "")
	if data, err := hex.DecodeString(id); err != nil || len(data) != 16 {
		sum := sha256.Sum256([]byte(uuid))
		return hex.EncodeToString(sum[:16])
	}
	return id
}

// spanOf is the span that an event begins. The same event always has the same one, so
// that spans can be sent twice.
func spanOf(uuid string, seq uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d", uuid, seq))
	return hex.EncodeToString(sum[:8])
}

// batch is what one request or one line of a file holds.
func batch(version string, spans []Span) tracesData {
	return tracesData{[]resourceSpans{{
		Resource:   resource{[]attribute{attr("service.name", "agent"), attr("service.version", version)}},
		ScopeSpans: []scopeSpans{{Scope: scope{"agent", version}, Spans: spans, SchemaURL: schemaURL}},
	}}}
}
