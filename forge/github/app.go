package github

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"agent/internal/fsx"
)

// App is a GitHub App that is installed where the tasks are. It takes the
// place of a token.
type App struct {
	ID             int64
	KeyFile        string // its private key as PEM (PKCS #1 or #8), readable by its owner only
	InstallationID int64
}

const largestKey = 64 << 10

// signer makes the tokens by which the App itself is known.
type signer struct {
	id    int64
	key   *rsa.PrivateKey
	now   func() time.Time
	ahead atomic.Int64 // nanoseconds that the forge's clock is ahead of ours, by its latest answer
}

// heard takes the forge's time from an answer, and reports whether a token of before
// may have been refused for its times.
func (s *signer) heard(h http.Header) (changed bool) {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return false
	}
	ahead := int64(date.Sub(s.now()))
	before := s.ahead.Swap(ahead)
	return max(ahead-before, before-ahead) > int64(30*time.Second)
}

// newSigner reads the key. Errors name the file, never what is in it.
func newSigner(a App) (*signer, error) {
	if a.ID <= 0 || a.InstallationID <= 0 {
		return nil, errors.New("github: the app needs its id and the id of an installation")
	}
	data, err := readPrivate(a.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("github: the app's key file: %w", err)
	}
	key, err := parseKey(data)
	if err != nil {
		return nil, fmt.Errorf("github: the app's key file %s: %w", a.KeyFile, err)
	}
	return &signer{id: a.ID, key: key, now: time.Now}, nil
}

// readPrivate reads a file that only its owner may touch.
func readPrivate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case !fsx.Private(info):
		return nil, fmt.Errorf("%s may be read by others (mode %04o): chmod 600 %s", path, info.Mode().Perm(), path)
	case info.Size() > largestKey:
		return nil, fmt.Errorf("%s is too large for a key", path)
	}
	return io.ReadAll(io.LimitReader(f, largestKey))
}

func parseKey(data []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("no PEM block")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, isRSA := parsed.(*rsa.PrivateKey)
	if err != nil || !isRSA {
		return nil, errors.New("no RSA private key") // the parser's own text may show bytes
	}
	return key, nil
}

// token is a JSON Web Token for a few minutes of the forge's clock. It counts from a
// minute ago: the forge refuses one from its future.
func (s *signer) token() (string, error) {
	now := s.now().Add(time.Duration(s.ahead.Load()))
	claims, err := json.Marshal(map[string]any{
		"iss": strconv.FormatInt(s.id, 10), "iat": now.Add(-time.Minute).Unix(), "exp": now.Add(8 * time.Minute).Unix(),
	})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	b.WriteString(base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)))
	b.WriteByte('.')
	b.WriteString(base64.RawURLEncoding.EncodeToString(claims))
	sum := sha256.Sum256(b.Bytes())
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", errors.New("the app's key cannot sign")
	}
	return b.String() + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
