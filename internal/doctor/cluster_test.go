package doctor

import (
	"slices"
	"strings"
	"testing"

	"agent/internal/app"
	"agent/internal/cluster"
	"agent/internal/config"
	"agent/internal/i18n"
)

// What real servers show only after long failures, or in releases that are not at hand.
// internal/tools/cluster asks real ones.
func TestJudgeCluster(t *testing.T) {
	t.Parallel()
	whole := cluster.Stream{Name: "a_history", Replicas: 3, Leader: "n1", Others: []cluster.Replica{{Server: "n2", Current: true}, {Server: "n3", Current: true}}}
	behind, alone, gone := whole, whole, whole
	behind.Others = []cluster.Replica{{Server: "n2", Lag: 9}, {Server: "n3", Current: true}}
	alone.Others = nil
	gone.Missing, gone.Error = true, "not in the cluster"
	all := func(release string) (servers []cluster.Server) {
		for _, name := range []string{"n1", "n2", "n3"} {
			servers = append(servers, cluster.Server{Name: name, Version: release, SyncAlways: true})
		}
		return servers
	}
	for _, c := range []struct {
		what string
		h    cluster.Health
		want []string
	}{
		{"whole", cluster.Health{Server: "n1", Version: "2.16.0", Tested: "2.15", Streams: []cluster.Stream{whole}, Servers: all("2.16.0")}, []string{"ok: 1 streams are whole, on n1, n2, n3"}},
		{"behind", cluster.Health{Server: "n1", Version: "2.15.3", Tested: "2.15", Streams: []cluster.Stream{behind}, Servers: all("2.15.3")}, []string{"warning: server n2 is behind with a_history"}},
		{"too few replicas", cluster.Health{Server: "n1", Version: "2.15.3", Tested: "2.15", Streams: []cluster.Stream{alone}, Servers: all("2.15.3")}, []string{"warning: the stream a_history has 1 of 3 replicas"}},
		{"a missing stream", cluster.Health{Server: "n1", Version: "2.15.3", Tested: "2.15", Streams: []cluster.Stream{whole, gone}, Servers: all("2.15.3")}, []string{"failed: the stream a_history is missing"}},
		{"an old server", cluster.Health{Server: "n1", Version: "2.11.4", Tested: "2.15", Streams: []cluster.Stream{whole}, Servers: all("2.15.0")[1:]},
			[]string{"warning: server n1 is release 2.11.4; the oldest that was tested is 2.15", "warning: not known: whether n1 sync", "ok: 1 streams"}},
		{"a release that nobody can read", cluster.Health{Server: "n1", Version: "", Tested: "2.15", Streams: []cluster.Stream{whole}, Servers: all("dev")},
			[]string{"warning: server n1 is release dev", "warning: server n2", "warning: server n3", "ok: 1 streams"}},
	} {
		d := &doctor{report: Report{Lang: i18n.En}, Options: Options{Show: func(Finding) {}}, App: &app.App{Config: &config.Config{Cluster: config.Cluster{Replicas: 3}}}}
		d.checkNodes(c.h)
		d.judgeStreams(c.h)
		var got []string
		for _, f := range d.report.Findings {
			got = append(got, string(f.Result)+": "+f.Text)
			if (f.Result != OK) != (f.Todo != "") {
				t.Errorf("%s: what to do about %q: %q", c.what, f.Text, f.Todo)
			}
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
