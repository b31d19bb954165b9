package sdnotify

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// The messages reach a socket as systemd's, with a file and without.
func TestMessages(t *testing.T) {
	names := map[string]string{"file": filepath.Join(t.TempDir(), "notify")}
	if runtime.GOOS == "linux" {
		names["abstract"] = fmt.Sprintf("@agent-test-%d", os.Getpid())
	}
	for what, name := range names {
		at, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer at.Close()
		s := New(func(key string) string {
			return map[string]string{"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": fmt.Sprint(os.Getpid())}[key]
		})
		s.Ready()
		s.Alive()
		s.Stopping()
		for _, want := range []string{"READY=1", "WATCHDOG=1", "STOPPING=1"} {
			buf := make([]byte, 100)
			n, err := at.Read(buf)
			if err != nil || string(buf[:n]) != want {
				t.Errorf("%s: %q %v, want %s", what, buf[:n], err, want)
			}
		}
		if s.Watchdog() != 3*time.Second {
			t.Errorf("%s: a watchdog every %s", what, s.Watchdog())
		}
	}
}

// Nobody waits for a sign of life where there is no socket, or for one of another process.
func TestNoWatchdog(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"WATCHDOG_USEC": "3000000"},
		{"NOTIFY_SOCKET": "/nowhere"},
		{"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"},
		{"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "soon"},
		{"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "-1"},
	} {
		s := New(func(key string) string { return env[key] })
		if s.Watchdog() != 0 {
			t.Errorf("%v: a watchdog every %s", env, s.Watchdog())
		}
		s.Ready() // reaches nobody, and is no error
	}
}
