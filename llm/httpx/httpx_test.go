package httpx

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBaseURLs(t *testing.T) {
	for base, ok := range map[string]bool{
		"https://api.openai.com/v1":             true,
		"http://127.0.0.1:1234/v1":              true,
		"http://[::1]:1234/v1":                  true,
		"http://localhost:1234/v1":              true,
		"http://models.example/v1":              false,
		"http://192.168.0.2/v1":                 false,
		"http://localhost.models.example/v1":    false,
		"https://user:hunter2@models.example/v": false,
		"https://models.example/v1?key=hunter2": false,
		"https://models.example/v1#hunter2":     false,
		"https://hunter2 .example/v1":           false,
		"ftp://models.example":                  false,
		"models.example/v1":                     false,
		"https:hunter2":                         false,
		"":                                      false,
		"https://169.254.169.254/v1":            false,
		"https://[::ffff:169.254.169.254]/v1":   false,
		"https://[fd00:ec2::254]/v1":            false,
		"https://0.0.0.0/v1":                    false,
	} {
		_, err := New(Config{BaseURL: base})
		if (err == nil) != ok {
			t.Errorf("%s: %v", base, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the secret is shown: %v", err)
		}
	}
	if _, err := New(Config{BaseURL: "http://192.168.0.2/v1", AllowHTTP: true}); err != nil {
		t.Error(err)
	}
}

func TestKeyThatNoHeaderCanCarry(t *testing.T) {
	for _, k := range []string{"sk-a\nb", "sk-a b", "sk-日本"} {
		if _, err := New(Config{BaseURL: "https://models.example/v1", APIKey: k}); err == nil || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%q: %v", k, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:80":                  true,
		"[::1]:80":                      true,
		"192.168.1.4:80":                true,
		"10.0.0.1:443":                  true,
		"8.8.8.8:443":                   true,
		"[2001:db8::1]:443":             true,
		"[64:ff9b::808:808]:443":        true,
		"169.254.169.254:80":            false,
		"169.254.0.1:80":                false,
		"0.0.0.0:80":                    false,
		"0.1.2.3:80":                    false,
		"[::]:80":                       false,
		"224.0.0.1:80":                  false,
		"100.100.100.200:80":            false,
		"[fd00:ec2::254]:80":            false,
		"[fe80::1%eth0]:80":             false,
		"[::ffff:169.254.169.254]:80":   false,
		"[::ffff:0.0.0.0]:80":           false,
		"[::169.254.169.254]:80":        false,
		"[64:ff9b::169.254.169.254]:80": false,
		"[2002:a9fe:a9fe::1]:80":        false,
		"unresolved.example:80":         false,
		"no port":                       false,
	} {
		if err := checkAddress(address, false); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, ok := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true, "10.0.0.1:80": false} {
		if err := checkAddress(address, true); (err == nil) != ok {
			t.Errorf("%s for a loopback name: %v", address, err)
		}
	}
}

// A host name passes every check of its text; the address is looked at when dialing.
func TestRefusedWhenDialing(t *testing.T) {
	for _, host := range []string{"169.254.169.254", "[::ffff:a9fe:a9fe]", "0.0.0.0"} {
		transport := newTransport(false)
		_, err := transport.DialContext(t.Context(), "tcp", host+":80")
		if !errors.Is(err, errForbidden) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	const now = "Fri, 27 Nov 2026 10:00:00 GMT"
	for value, want := range map[string]time.Duration{
		"":                              0,
		"30":                            30 * time.Second,
		"0.5":                           500 * time.Millisecond,
		"-3":                            0,
		"NaN":                           0,
		"1e300":                         maxWait,
		"soon":                          0,
		"Fri, 27 Nov 2026 10:02:00 GMT": 2 * time.Minute,
		"Fri, 27 Nov 2026 09:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}, "Date": {now}}); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {"9"}, "Retry-After-Ms": {"1500"}}); got != 1500*time.Millisecond {
		t.Errorf("%v", got)
	}
	if got := retryAfter(http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}); got < 59*time.Minute || got > time.Hour {
		t.Errorf("%v", got)
	}
}
