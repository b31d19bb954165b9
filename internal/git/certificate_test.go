package git

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server whose certificate is signed by an own authority: what SSL_CERT_FILE makes
// this program trust, git trusts, and without it the configuration is to blame.
func TestCertificates(t *testing.T) {
	origin := remote(t)
	backend := strings.TrimSpace(plain(t, filepath.Dir(origin), "--exec-path")) + "/git-http-backend"
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serveBackend(w, r, backend, filepath.Dir(origin))
	}))
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	own := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(own, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{URL: s.URL + "/" + filepath.Base(origin), Dir: filepath.Join(t.TempDir(), "copy")}
	for _, test := range []struct {
		file, cainfo string
		want         Kind
	}{
		{"", "", Certificate}, {own, "", ""}, {"", own, ""}, {own, "/absent", Certificate},
	} {
		t.Setenv("SSL_CERT_FILE", test.file)
		t.Setenv("GIT_SSL_CAINFO", test.cainfo)
		if test.cainfo == "" {
			_ = os.Unsetenv("GIT_SSL_CAINFO") // Setenv puts it back at the end
		}
		var failed *Error
		err := Reach(context.Background(), o)
		if errors.As(err, &failed); err != nil && failed == nil || (err == nil) != (test.want == "") || err != nil && failed.Kind != test.want {
			t.Errorf("%+v: %v", test, err)
		}
	}
	t.Setenv("SSL_CERT_FILE", own)
	_ = os.Unsetenv("GIT_SSL_CAINFO")
	if _, err := Clone(context.Background(), o); err != nil {
		t.Error(err)
	}
}
