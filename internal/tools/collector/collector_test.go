package collector

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"agent/eventlog/event"
	"agent/internal/export"
	"agent/internal/freeport"
	"agent/internal/logtest"
)

// receiver is the real receiver. What it takes is in the sink.
func receiver(t *testing.T) (address string, sink *consumertest.TracesSink) {
	t.Helper()
	ports, err := freeport.Find(1)
	must(t, err)
	address = freeport.Address(ports[0])
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	config.Protocols.HTTP.GetOrInsertDefault().ServerConfig.NetAddr.Endpoint = address
	sink = new(consumertest.TracesSink)
	r, err := factory.CreateTraces(t.Context(), receivertest.NewNopSettings(factory.Type()), config, sink)
	must(t, err)
	must(t, r.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { must(t, r.Shutdown(context.Background())) })
	return "http://" + address, sink
}

// spansOf are the spans that a receiver took, by name: how often each came, and that
// parents and times are what a backend needs.
func spansOf(t *testing.T, sink *consumertest.TracesSink) map[string]int {
	t.Helper()
	names, ids := map[string]int{}, map[pcommon.SpanID]bool{}
	var parents []pcommon.SpanID
	for _, traces := range sink.AllTraces() {
		for _, resource := range traces.ResourceSpans().All() {
			if name, ok := resource.Resource().Attributes().Get("service.name"); !ok || name.Str() != "agent" {
				t.Errorf("service.name is %q", name.AsString())
			}
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					names[span.Name()]++
					ids[span.SpanID()] = true
					parents = append(parents, span.ParentSpanID())
					if span.TraceID().IsEmpty() || span.SpanID().IsEmpty() || span.EndTimestamp() < span.StartTimestamp() || span.StartTimestamp() == 0 {
						t.Errorf("%s: trace %s, span %s, from %d to %d", span.Name(), span.TraceID(), span.SpanID(), span.StartTimestamp(), span.EndTimestamp())
					}
				}
			}
		}
	}
	for _, parent := range parents {
		if !parent.IsEmpty() && !ids[parent] {
			t.Errorf("parent %s was not sent", parent)
		}
	}
	return names
}

// bodies is a run with every kind of span.
func bodies() []event.Body {
	return []event.Body{
		&event.ProcessStarted{Version: "v1"}, &event.ConfigPinned{Provider: "openai", Model: "gpt-5"},
		&event.MessageAdded{Role: "user", Purpose: event.TaskMessage, Content: event.T("Fix it. \u202e<b>")},
		&event.PhaseEntered{Phase: "planning"},
		&event.LLMRequested{Purpose: "work", Model: "gpt-5", Attempt: 1}, &event.LLMFailed{Kind: "timeout", Message: "no answer"},
		&event.LLMRequested{Purpose: "work", Model: "gpt-5", Attempt: 2},
		&event.LLMReplied{Text: event.T("I look."), Finish: "tool_calls", Model: "gpt-5", CostUSD: 0.25, Usage: event.Usage{Prompt: 100, Completion: 20, Cached: 60},
			Calls: []event.ToolCall{{ID: "c1", Name: "workspace__run", Args: event.T(`{"a":1}`)}}},
		&event.ToolRequested{CallID: "c1", Server: "workspace", Tool: "run", Args: event.T(`{"a":1}`)}, &event.ToolReplied{Content: event.T("exit code: 0")},
		&event.ContextPaused{Reason: event.PauseLimit}, &event.ContextResumed{}, &event.ProcessEnded{}, &event.ContextCompleted{Reason: "done"},
	}
}

// TestCollectorTakesOurSpans: an export and the spans of a run that goes on are taken whole,
// with and without texts. They are the same spans.
func TestCollectorTakesOurSpans(t *testing.T) {
	for _, content := range []bool{false, true} {
		t.Run(fmt.Sprintf("content %v", content), func(t *testing.T) {
			store := logtest.Store(t, "Fix it", bodies()...)
			source := export.Source{Store: store, UUID: logtest.UUID, Version: "v1", Content: content}
			address, whole := receiver(t)
			sent, err := source.Send(t.Context(), export.Client{Endpoint: address})
			must(t, err)
			address, live := receiver(t)
			sender := export.NewSender(source, export.Client{Endpoint: address}, slog.New(slog.DiscardHandler))
			for ev, err := range store.Events(logtest.UUID) {
				must(t, err)
				sender.Saw(logtest.UUID, ev)
			}
			must(t, sender.Close())
			exported, watched := spansOf(t, whole), spansOf(t, live)
			t.Logf("%d spans sent, %d of the export and %d of the run taken: %v", sent, whole.SpanCount(), live.SpanCount(), exported)
			if sent == 0 || whole.SpanCount() != sent || live.SpanCount() != sent || fmt.Sprint(exported) != fmt.Sprint(watched) {
				t.Errorf("export %v, live %v", exported, watched)
			}
		})
	}
}

// TestCollectorIsReal: what is no OTLP is refused, so that a test above can fail.
func TestCollectorIsReal(t *testing.T) {
	address, sink := receiver(t)
	if err := (export.Client{Endpoint: address}).Post(t.Context(), []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"no hex"}]}]}]}`)); err == nil {
		t.Error("a broken id was taken")
	}
	must(t, export.Client{Endpoint: address}.Post(t.Context(), nil))
	if sink.SpanCount() != 0 {
		t.Errorf("%d spans", sink.SpanCount())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
