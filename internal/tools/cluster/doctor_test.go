package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/internal/app"
	"agent/internal/cluster/jetstream"
	"agent/internal/config"
	"agent/internal/doctor"
	"agent/internal/i18n"
	"agent/internal/report"
	"agent/internal/tools/cluster/natstest"
)

// machine is one with a configuration for some servers.
type machine struct{ dir, config string }

func newMachine(t *testing.T, servers *natstest.Servers, replicas int, more string) machine {
	t.Helper()
	m := machine{dir: t.TempDir()}
	other := httptest.NewServer(http.NotFoundHandler()) // the forge and the model, which are not looked at here
	t.Cleanup(other.Close)
	m.config = filepath.Join(m.dir, "config.yaml")
	text := fmt.Sprintf("allow_http: true\nlanguage: en\ncontexts_dir: %s/contexts\nworkspaces_dir: %s/work\n"+
		"github: {api_url: '%s', repositories: [o/r], personal_access_token: x}\n"+
		"llm: {provider: ollama, ollama: {model: m, endpoint: '%s'}}\n"+
		"mcp_servers: [{mcp_server_name: workspace, command: ['false']}]\n"+ // not this test program
		"cluster: {name: test, replicas: %d, nats: {urls: ['%s']%s}}\n", m.dir, m.dir, other.URL, other.URL, replicas, strings.Join(servers.URLs(), "', '"), more)
	if err := os.WriteFile(m.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

func monitored(servers *natstest.Servers) string {
	return ", monitor_urls: ['" + strings.Join(servers.Monitor(), "', '") + "']"
}

// doctor tells what `agent doctor` finds of the cluster.
func (m machine) doctor(t *testing.T) (found []string) {
	t.Helper()
	r := doctor.Run(t.Context(), doctor.Options{ConfigPath: m.config, NoModelCall: true, Show: func(doctor.Finding) {},
		Getenv: func(name string) string { return map[string]string{"HOME": m.dir, "LANG": "C"}[name] }})
	for _, f := range r.Findings {
		if f.Check == "cluster" {
			found = append(found, fmt.Sprintf("%s: %s | %s", f.Result, f.Text, f.Todo))
		}
	}
	return found
}

// until repeats doctor until it finds exactly what is wanted: servers take a moment to miss
// one that was killed.
func (m machine) until(t *testing.T, want ...string) {
	t.Helper()
	var found []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		found = m.doctor(t)
		if slices.EqualFunc(found, want, strings.Contains) {
			return
		}
	}
	t.Fatalf("doctor found:\n%s\nwant:\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
}

// unheard takes what a store warns of: one that is open to look follows the history for as
// long as the process lives.
func unheard(error) {}

func (m machine) status(t *testing.T) *report.ClusterHealth {
	t.Helper()
	cfg, _, err := config.Load(m.config, os.Getenv, config.Offline())
	if err != nil {
		t.Fatal(err)
	}
	store, err := app.OpenReadOnly(cfg, unheard)
	if err != nil {
		t.Fatal(err)
	}
	return statusOf(t, store, cfg)
}

func statusOf(t *testing.T, store *contexts.Store, cfg *config.Config) *report.ClusterHealth {
	t.Helper()
	s := report.Source{Store: store, Config: cfg, Lang: i18n.En, Now: time.Now(), Warn: unheard}
	r, err := s.Status(0)
	if err == nil {
		err = s.Complete(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Cluster
}

const wholeText = "ok: 4 streams are whole, on n0, n1, n2"

// TestDoctor asks real servers, some of which are killed.
func TestDoctor(t *testing.T) {
	servers := natstest.Start(t, 3)
	m := newMachine(t, servers, 3, monitored(servers))
	m.until(t, "ok: the servers answer; the first worker of test will make its streams")
	if h := m.status(t); h.Error != "" || !h.Unused() || h.Whole {
		t.Errorf("status of a cluster that was never used: %+v", h)
	}
	open(t, jetstream.Options{URLs: servers.URLs(), Replicas: 3})
	m.until(t, wholeText, "ok: the servers of test answer; 0 workers")
	newMachine(t, servers, 3, "").until(t, "warning: not known: whether n0, n1, n2 sync", wholeText, "0 workers")
	newMachine(t, servers, 1, monitored(servers)).until(t, "failed: the stream test_history has 3 replicas, but cluster.replicas is 1 | run `nats stream edit test_history --replicas 1`",
		"test_objects", "KV_test_keys", "test_queue", wholeText, "0 workers")
	if h := m.status(t); !h.Whole || h.Error != "" || len(h.Faults) > 0 {
		t.Errorf("status: %+v", h)
	}

	servers.Kill(1)
	m.until(t, "warning: the monitoring at "+servers.Monitor()[1],
		"warning: server n1 is offline; it keeps replicas of test_history, test_objects, KV_test_keys, test_queue", "0 workers")
	if h := m.status(t); h.Whole || !slices.Equal(h.Faults, []string{"server n1 is offline"}) {
		t.Errorf("status without a server: %+v", h)
	}

	cfg, _, err := config.Load(m.config, os.Getenv, config.Offline())
	if err != nil {
		t.Fatal(err)
	}
	store, err := app.OpenReadOnly(cfg, unheard)
	if err != nil {
		t.Fatal(err)
	}
	servers.Kill(2)
	m.until(t, "warning: the monitoring at "+servers.Monitor()[1], "warning: the monitoring at "+servers.Monitor()[2],
		"failed: the stream test_history has no leader", "test_objects", "KV_test_keys", "test_queue", "server n1 is offline", "server n2 is offline")
	if h := statusOf(t, store, cfg); h.Whole || h.Error == "" {
		t.Errorf("status without a majority: %+v", h)
	}
	servers.Kill(0)
	m.until(t, "failed: the servers do not answer")
	if h := m.status(t); h.Whole || h.Error == "" {
		t.Errorf("status without servers: %+v", h)
	}
}

// A server that does not sync is found by its monitoring.
func TestDoctorSync(t *testing.T) {
	servers := natstest.StartWith(t, fmt.Sprintf("jetstream {\n store_dir: %q\n}\n", t.TempDir()))
	servers.Await()
	open(t, jetstream.Options{URLs: servers.URLs()})
	newMachine(t, servers, 1, monitored(servers)).until(t,
		"failed: server n0 syncs its disk only every 2m0s: a power cut can take away what it acknowledged | write `sync_interval: always` into the block `jetstream`",
		"ok: 4 streams are whole, on n0", "0 workers")
}
