package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent/internal/config"
)

// gitlabLabels is the part of GitLab's API that knows about labels and tokens.
func gitlabLabels(t *testing.T, labels map[string]string) *httptest.Server {
	const project = "/api/v4/projects/g%2Fs%2Fp/labels"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		name, isLabel := strings.CutPrefix(path, project+"/")
		switch {
		case r.Header.Get("Authorization") != "Bearer "+testToken:
			w.WriteHeader(http.StatusUnauthorized)
		case path == "/api/v4/personal_access_tokens/self":
			_, _ = w.Write([]byte(`{"scopes":["api","read_user"]}`))
		case isLabel && labels[name] != "":
			_, _ = w.Write([]byte(`{}`))
		case path == project && r.Method == http.MethodPost:
			var l struct{ Name, Color string }
			_ = json.NewDecoder(r.Body).Decode(&l) // an empty colour fails below
			labels[l.Name] = l.Color
			w.WriteHeader(http.StatusCreated)
		case path == "/api/v4/elsewhere":
			http.Redirect(w, r, "/api/v4/user", http.StatusFound)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestRestOnGitLab(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"coding%20agent": "#5319e7"}
	s := gitlabLabels(t, labels)
	f := config.Forge{Kind: "gitlab", APIURL: s.URL + "/api/v4/", Token: testToken, BotLabel: botLabel, DoneLabel: doneLabel}
	api := newRest(f)
	ctx := context.Background()
	missing, err := missingLabels(ctx, f, api, "g/s/p")
	if err != nil || len(missing) != 1 || missing[0].name != doneLabel {
		t.Fatalf("missing %+v, %v", missing, err)
	}
	got, err := api.do(ctx, http.MethodPost, labelPath("gitlab", "g/s/p"), labelBody("gitlab", missing[0]))
	if err != nil || got.status != http.StatusCreated || labels[doneLabel] != "#0e8a16" {
		t.Errorf("status %d, %v: %v", got.status, err, labels)
	}
	if scopes := gitlabScopes(ctx, api); len(scopes) != 2 || scopes[0] != "api" {
		t.Errorf("scopes %v", scopes)
	}
	if _, err := api.get(ctx, "/elsewhere"); err == nil || strings.Contains(err.Error(), s.URL) {
		t.Errorf("a redirect was followed, or its URL is shown: %v", err)
	}
}

func TestRestRefusesTricks(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"169.254.169.254", "[fe80::1]", "0.0.0.0", "[::ffff:169.254.169.254]", "224.0.0.1"} {
		api := newRest(config.Forge{APIURL: "http://" + host + ":9/api", Token: testToken})
		_, err := api.get(context.Background(), "/user")
		if err == nil || !strings.Contains(err.Error(), "link-local or unspecified") || strings.Contains(err.Error(), testToken) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"": {}, "2d": now.AddDate(0, 0, -2), "90m": now.Add(-90 * time.Minute), "2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := sinceTime(s, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"-1d", "d", "soon", "-3h", "2026-13-01", "99999999999d"} {
		if got, err := sinceTime(s, now); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
	for d, want := range map[time.Duration]string{-time.Hour: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m", 47 * time.Hour: "47h", 49 * time.Hour: "2d"} {
		if got := age(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestTableColumns(t *testing.T) {
	t.Parallel()
	var tb table
	tb.row("リポジトリ", "トークン", "")
	tb.row("a", "7", bar(1, 2, 4))
	tb.row("b\x1b[2J", "100", bar(2, 2, 4))
	var out strings.Builder
	tb.print(&out)
	want := "リポジトリ  トークン\n" + "a                  7  ██\n"
	if !strings.HasPrefix(out.String(), want) || strings.Contains(out.String(), "\x1b") {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	for _, c := range []struct {
		value, largest float64
		want           string
	}{{0, 5, ""}, {5, 0, ""}, {1, 1000, "▏"}, {5, 5, "████"}, {3, 8, "█▌"}} {
		if got := bar(c.value, c.largest, 4); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.value, c.largest, got, c.want)
		}
	}
}
