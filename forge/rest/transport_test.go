package rest

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

func TestAddresses(t *testing.T) {
	for address, refused := range map[string]bool{
		"127.0.0.1:80": false, "[::1]:80": false, "10.0.0.1:443": false, "140.82.112.3:443": false, "[2001:db8::1]:443": false,
		"169.254.169.254:80": true, "[::ffff:169.254.169.254]:80": true, "0.0.0.0:80": true, "[::]:80": true,
		"[fe80::1%eth0]:80": true, "[fd00:ec2::254]:80": true, "224.0.0.1:80": true, "host:80": true,
	} {
		if err := checkAddress("tcp", address, nil); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestTransport(t *testing.T) {
	own := NewTransport()
	if own.Proxy == nil {
		t.Error("the proxy of the environment is not used")
	}
	if own.TLSClientConfig != nil && own.TLSClientConfig.InsecureSkipVerify {
		t.Error("certificates are not checked")
	}
}

// The time of a reset counts from the answer's own date, never from our clock.
func TestWait(t *testing.T) {
	for _, ahead := range []time.Duration{-24 * time.Hour, -6 * time.Minute, 0, 6 * time.Minute, 24 * time.Hour} {
		theirs := time.Now().Add(ahead).Truncate(time.Second)
		for _, tt := range []struct {
			after, reset string
			dated        bool
			want         time.Duration
		}{
			{"", strconv.FormatInt(theirs.Unix()+90, 10), true, 90 * time.Second},
			{"", strconv.FormatInt(theirs.Unix()+90, 10), false, defaultWait},
			{"", strconv.FormatInt(theirs.Unix()-5, 10), true, time.Second},
			{"7", strconv.FormatInt(theirs.Unix()+90, 10), true, 7 * time.Second},
			{"", "", true, defaultWait},
		} {
			h := http.Header{}
			if tt.after != "" {
				h.Set("Retry-After", tt.after)
			}
			if tt.dated {
				h.Set("Date", theirs.UTC().Format(http.TimeFormat))
			}
			if got := Wait(h, tt.reset); got != tt.want {
				t.Errorf("clock %v, %+v: %v", ahead, tt, got)
			}
		}
	}
}
