package webhook_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/github"
	"agent/internal/webhook"
)

// certificate writes a certificate of its own authority for 127.0.0.1, and its key.
func certificate(t *testing.T, dir string, serial int64, written time.Time) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	of := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "hooks"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	must(t, err)
	parsed, err := x509.ParseCertificate(der)
	must(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600))
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.Chtimes(cert, written, written))
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return cert, key, roots
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTLS: deliveries come by HTTPS with the certificate of the files. A renewed one is served from then on, half a
// renewal leaves the one before, and a connection without TLS, or with an old one, has no effect.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key, roots := certificate(t, dir, 1, time.Now().Add(-time.Hour))
	told := 0
	s, err := webhook.Listen(webhook.Options{Listen: "127.0.0.1:0", Secret: secret, CertFile: cert, KeyFile: key, Kinds: []*forge.Hook{github.Driver.Hook}, Log: slog.New(slog.DiscardHandler),
		Found: func(*forge.Hook, forge.HookItem) { told++ }})
	must(t, err)
	defer s.Close()
	d := deliveries(t, secret)[`github_issue acme/widgets 1 ["coding agent"]`]
	post := func(scheme string, c *tls.Config) (serial string, status int, err error) {
		client := http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}}
		request, err := http.NewRequest(http.MethodPost, scheme+"://"+s.Address()+"/hooks", strings.NewReader(d.Body))
		must(t, err)
		request.Header = d.Header.Clone()
		response, err := client.Do(request)
		if err != nil {
			return "", 0, err
		}
		_ = response.Body.Close()
		if response.TLS != nil {
			serial = response.TLS.PeerCertificates[0].SerialNumber.String()
		}
		return serial, response.StatusCode, nil
	}
	for _, want := range []string{"1", "2"} {
		if serial, status, err := post("https", &tls.Config{RootCAs: roots}); err != nil || status != http.StatusNoContent || serial != want {
			t.Errorf("certificate %s, want %s: %d %v", serial, want, status, err)
		}
		_, _, roots = certificate(t, dir, 2, time.Now())
	}
	_, _, roots = certificate(t, dir, 3, time.Now().Add(time.Minute))
	must(t, os.WriteFile(key, []byte("half"), 0o600)) // the certificate is new, its key is not there yet
	if serial, _, err := post("https", &tls.Config{InsecureSkipVerify: true}); err != nil || serial != "2" {
		t.Errorf("after half a renewal: certificate %s, %v", serial, err)
	}
	if _, _, err := post("https", &tls.Config{RootCAs: roots}); err == nil {
		t.Error("a certificate without its key was served")
	}
	if told != 3 {
		t.Errorf("%d deliveries were told", told)
	}
	if _, status, _ := post("http", nil); status == http.StatusNoContent {
		t.Error("a delivery without TLS was taken")
	}
	if _, _, err := post("https", &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		t.Error("TLS 1.1 was taken")
	}
	if told != 3 || !webhook.Answers(t.Context(), s.Address()) {
		t.Errorf("%d deliveries were told, or it is not known as ours", told)
	}
	if _, err := webhook.Listen(webhook.Options{Listen: "127.0.0.1:0", Secret: secret, CertFile: cert, KeyFile: key}); err == nil {
		t.Error("it listens without a key that fits")
	}
	if _, err := webhook.Listen(webhook.Options{Listen: s.Address(), Secret: secret}); err == nil {
		t.Error("it listens at a port that is taken")
	}
}
