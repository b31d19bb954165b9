package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/gitlab"
)

const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"

// gitlabLabels is the part of GitLab's API that knows about labels and tokens.
func gitlabLabels(t *testing.T, labels map[string]string) *httptest.Server {
	const project = "/api/v4/projects/g%2Fs%2Fp/labels"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		name, isLabel := strings.CutPrefix(path, project+"/")
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		case path == "/api/v4/user":
			w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
			w.Header().Set("RateLimit-Remaining", "7")
			w.Header().Set("RateLimit-Limit", "2000")
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

func TestGitLab(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"coding%20agent": "#5319e7"}
	s := gitlabLabels(t, labels)
	p, ctx := New(gitlab.Driver, s.URL+"/api/v4/", token), context.Background()
	missing, err := p.MissingLabels(ctx, "g/s/p", []forge.Label{forge.TriggerLabel.Named("coding agent"), forge.DoneLabel.Named("done")})
	if err != nil || len(missing) != 1 || missing[0].Name != "done" {
		t.Fatalf("missing %+v, %v", missing, err)
	}
	if err := p.CreateLabel(ctx, "g/s/p", missing[0]); err != nil || labels["done"] != "#"+forge.DoneLabel.Color {
		t.Errorf("%v: %v", err, labels)
	}
	if err := p.CreateLabel(ctx, "other", missing[0]); err == nil || err.Error() != "HTTP 404" {
		t.Errorf("a label was made in no project: %v", err)
	}
	got, err := p.Token(ctx)
	if err != nil || len(got.Scopes) != 2 || !got.Enough || !got.HasRate || got.Left != 7 || got.Limit != "2000" {
		t.Errorf("token %+v, %v", got, err)
	}
	if !got.HasClock || got.Ahead < 59*time.Minute || got.Ahead > 61*time.Minute {
		t.Errorf("our clock is %v ahead", got.Ahead)
	}
	if _, err := p.get(ctx, "/elsewhere"); err == nil || strings.Contains(err.Error(), s.URL) {
		t.Errorf("a redirect was followed, or its URL is shown: %v", err)
	}
}

// The token goes to no address of a metadata service, and to none that is nobody's.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"169.254.169.254", "[fe80::1]", "0.0.0.0", "[::ffff:169.254.169.254]", "224.0.0.1"} {
		_, err := New(gitlab.Driver, "http://"+host+":9/api", token).Token(context.Background())
		if err == nil || !strings.Contains(err.Error(), "link-local or unspecified") || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", host, err)
		}
	}
}
