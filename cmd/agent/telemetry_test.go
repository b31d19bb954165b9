package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"agent/internal/doctor"
)

// TestTelemetryOfARun: a run sends its spans and none of its texts. A collector that refuses
// everything changes nothing for the run, and the doctor warns of it.
func TestTelemetryOfARun(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got, status := "", http.StatusOK
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		data, _ := io.ReadAll(r.Body)
		got += string(data) + r.Header.Get("X-Key") + "\n"
		w.WriteHeader(status)
	}))
	defer collector.Close()
	w := newWorld(t, greet())
	w.extra = "telemetry: {otlp_endpoint: " + collector.URL + ", headers: {X-Key: " + canary + "}}"
	w.agent(0, "run")
	for _, want := range []string{`"name":"invoke_agent agent"`, `"name":"chat scripted"`, `"name":"execute_tool workspace/`, `{"stringValue":"completed"}`, canary} {
		if !strings.Contains(got, want) {
			t.Errorf("%s was not sent", want)
		}
	}
	for _, secret := range []string{testToken, testKey, "Greet the world"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q was sent", secret)
		}
	}
	status = http.StatusForbidden
	w.issue("Greet once more")
	w.agent(0, "run")
	w.wantFinding(w.findings(0, "--no-model-call"), "telemetry", doctor.Warning, "403")
	if out, _ := w.agent(0, "config", "show"); strings.Contains(out, canary) {
		t.Error("config show prints the header")
	}
}
