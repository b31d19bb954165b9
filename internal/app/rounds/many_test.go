package rounds_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent/forge/forgetest"
	"agent/internal/app"
	"agent/internal/app/rounds"
	"agent/internal/config"
)

// server is a fake forge whose requests are counted.
type server interface {
	Requests() []forgetest.Request
	URL() string
	Close()
}

// A thousand repositories at rest took 26,400 counted requests an hour, of 5,000 that
// GitHub allows: the answers kept for conditional requests were too few for one round,
// and under cron there were none.
func TestThousandRepositories(t *testing.T) {
	const repositories, allowed = 1000, 2000
	for _, c := range []struct {
		name, section string
		path          func(i int) string
		counts304     bool // whether an unchanged answer counts
		make          func(paths []string) server
	}{
		{"github one organization", "github: {api_url: '%s', personal_access_token: tok-0123456789, bot_name: agent-bot, repositories: [%s]}",
			func(i int) string { return fmt.Sprintf("acme/r%d", i) }, true, manyOnGitHub}, // an App's tags end with its token
		{"github each with its owner", "github: {api_url: '%s', personal_access_token: tok-0123456789, bot_name: agent-bot, repositories: [%s]}",
			func(i int) string { return fmt.Sprintf("o%d/r", i) }, false, manyOnGitHub},
		{"gitlab one group", "gitlab: {api_url: '%s', personal_access_token: tok-0123456789, projects: [%s]}",
			func(i int) string { return fmt.Sprintf("acme/g%d/p%d", i%7, i) }, true, manyOnGitLab},
		{"gitlab each in its group", "gitlab: {api_url: '%s', personal_access_token: tok-0123456789, projects: [%s]}",
			func(i int) string { return fmt.Sprintf("g%d/p", i) }, true, manyOnGitLab},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			paths := make([]string, repositories)
			for i := range paths {
				paths[i] = c.path(i)
			}
			s := c.make(paths)
			defer s.Close()
			kind, _, _ := strings.Cut(c.section, ":")
			path := configFile(t, fmt.Sprintf("task_source: %s\n"+c.section+"\n", kind, s.URL(), strings.Join(paths, ", ")))
			counted := func(round func()) (n int) {
				from := len(s.Requests())
				round()
				for _, r := range s.Requests()[from:] {
					if c.counts304 || r.Status != 304 {
						n++
					}
				}
				return n
			}
			loop := open(t, path)
			first := counted(func() { idle(t, loop) })
			inLoop := counted(func() { idle(t, loop) }) * 3600 / loop.Config.Loop.IntervalSeconds
			loop.Close()
			underCron := counted(func() {
				process := open(t, path)
				defer process.Close()
				idle(t, process)
			}) * 12 // every five minutes
			t.Logf("first round %d, then an hour of the loop %d, of cron %d", first, inLoop, underCron)
			if inLoop > allowed || underCron > allowed || first > 5000 {
				t.Errorf("counted requests: first round %d, an hour of the loop %d, of cron %d; allowed are %d", first, inLoop, underCron, allowed)
			}
		})
	}
}

func manyOnGitHub(paths []string) server {
	s := forgetest.New()
	s.AddToken("tok-0123456789", "agent-bot")
	s.AddOrganization("acme")
	for _, p := range paths {
		s.AddRepository(p, forgetest.Repository{})
	}
	return s
}

func manyOnGitLab(paths []string) server {
	g := forgetest.NewGitLab()
	g.AddToken("tok-0123456789", "agent-bot")
	for _, p := range paths {
		g.AddProject(p, forgetest.Project{})
	}
	return g
}

// configFile writes a configuration without tools whose model server nobody asks.
func configFile(t *testing.T, forge string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf("contexts_dir: %[1]s/contexts\nworkspaces_dir: %[1]s/workspaces\nlog: {dir: %[1]s/logs}\nmcp_servers: []\n"+
		"llm: {provider: ollama, ollama: {endpoint: 'http://127.0.0.1:1', model: toy}}\n", dir)
	if err := os.WriteFile(path, []byte(text+forge), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *app.App {
	t.Helper()
	return openAs(t, path, "test")
}

func openAs(t *testing.T, path, version string) *app.App {
	t.Helper()
	cfg, _, err := config.Load(path, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(cfg, app.Options{Version: version, ConfigPath: path, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// idle does a round in which nothing is to be done.
func idle(t *testing.T, a *app.App) {
	t.Helper()
	print := func(line string) { t.Log(line) }
	got := rounds.New(a, rounds.Voice{Say: print, Note: print, Trouble: func(what string, err error) { t.Errorf("%s: %v", what, err) }}).All(t.Context())
	if got.Did != 0 || len(got.Errors) != 0 {
		t.Errorf("%+v", got)
	}
}
