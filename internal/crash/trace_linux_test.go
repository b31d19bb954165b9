package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestTrace kills a shell before and after its n-th write.
func TestTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	argv := []string{"sh", "-c", "echo one >>" + file + "; echo two >>" + file}
	for _, c := range []struct {
		n     int
		after bool
		want  string
	}{
		{0, false, "one\ntwo\n"}, {2, false, ""}, {2, true, "one\n"}, {3, true, "one\n"}, {4, false, "one\n"}, {4, true, "one\ntwo\n"}, {5, false, "one\ntwo\n"},
	} {
		_ = os.Remove(file)
		status, made, err := trace(argv, c.n, c.after)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(file)
		killed := status.Signaled() && status.Signal() == syscall.SIGKILL
		if string(got) != c.want || killed != (c.n == len(made) && c.n < 5 && c.n > 0) {
			t.Errorf("call %d, after %v: file %q, killed %v, calls %v", c.n, c.after, got, killed, made)
		}
	}
}
