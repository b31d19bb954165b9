package cluster

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/internal/freeport"
)

// objectEngine is MinIO with one disk: an object for each line, which is not written if there is one of
// its name.
func objectEngine(t testing.TB, dir string) engine {
	ports, err := freeport.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	s := store{host: freeport.Address(ports[0]), user: "measured", password: "measured-here",
		client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
	cmd := exec.Command("minio", "server", "--quiet", "--address", s.host, filepath.Join(dir, "minio"))
	cmd.Env = append(os.Environ(), "MINIO_ROOT_USER="+s.user, "MINIO_ROOT_PASSWORD="+s.password, "MINIO_BROWSER=off")
	start(t, cmd)
	until(t, "minio", func() error { return s.put("/logs", nil) })
	if err := s.put("/logs/one", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.put("/logs/one", []byte("y")); err == nil || !strings.Contains(err.Error(), "412") {
		t.Fatalf("a second object of the same name: %v", err)
	}
	line := bytes.Repeat([]byte("x"), lineSize)
	return engine{"MinIO, one disk", func(t testing.TB, round, clients, each int) []time.Duration {
		return atOnceTimed(t, clients, each, func(c, n int) error { return s.put(fmt.Sprintf("/logs/%d/%d/%d", round, c, n), line) })
	}}
}

// store speaks S3 as far as an append needs it.
type store struct {
	host, user, password string
	client               *http.Client
}

// put makes a bucket or an object that is not there yet.
func (s store) put(path string, data []byte) error {
	r, err := http.NewRequest(http.MethodPut, "http://"+s.host+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	if data != nil {
		r.Header.Set("If-None-Match", "*")
	}
	s.sign(r, time.Now().UTC())
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d: %s", path, answer.StatusCode, text)
	}
	return err
}

// sign adds a signature of AWS, version 4, which leaves out the body.
func (s store) sign(r *http.Request, now time.Time) {
	const unsigned, region = "UNSIGNED-PAYLOAD", "us-east-1"
	day, at := now.Format("20060102"), now.Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", at)
	r.Header.Set("X-Amz-Content-Sha256", unsigned)
	const headers = "host;x-amz-content-sha256;x-amz-date"
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), "", "host:" + s.host, "x-amz-content-sha256:" + unsigned, "x-amz-date:" + at, "", headers, unsigned}, "\n")
	scope := strings.Join([]string{day, region, "s3", "aws4_request"}, "/")
	sum := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + s.password)
	for _, part := range []string{day, region, "s3", "aws4_request", strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, hex.EncodeToString(sum[:])}, "\n")} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s", s.user, scope, headers, hex.EncodeToString(key)))
}
