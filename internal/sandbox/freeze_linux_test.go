package sandbox

import (
	"bufio"
	"maps"
	"os"
	"os/exec"
	"testing"
	"time"

	"agent/internal/exhaustive"
)

// restless are shell scripts whose processes do not want to be stopped.
var restless = map[string]string{
	"spins": `setsid sh -c 'while :; do :; done' & setsid sh -c 'while :; do :; done' & wait`,
	"forks": `while :; do /bin/true; done`,
	"relay": `setsid sh -c 'while :; do kill -CONT $PPID; done' & other=$!
		while :; do kill -CONT $other; done`,
	"pair": `a() { while :; do kill -CONT -1; done; }; a & a & a`,
}

// host runs a script below a process that adopts orphans, and is the root of them all.
func host(t *testing.T, script string) (root int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "host", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q", line)
	}
	return cmd.Process.Pid
}

func TestFreeze(t *testing.T) {
	for name, script := range restless {
		t.Run(name, func(t *testing.T) {
			root := host(t, script)
			for range exhaustive.Of(5, 200) {
				thaw, err := Freeze(root, 10*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				first := descendants(root)
				time.Sleep(2 * time.Millisecond) // in which something that runs would be scheduled
				if second := descendants(root); len(first) == 0 || !first.allStopped() || !maps.Equal(first, second) {
					t.Fatalf("%v, then %v", first, second)
				}
				thaw()
				for end := time.Now().Add(20 * time.Second); maps.Equal(first, descendants(root)); {
					if time.Now().After(end) {
						t.Fatal("they stay stopped")
					}
				}
			}
		})
	}
}

// TestFreezeGivesUp: without time nothing stays stopped.
func TestFreezeGivesUp(t *testing.T) {
	root := host(t, restless["spins"])
	if _, err := Freeze(root, -1); err == nil {
		t.Fatal("one look was enough")
	}
	for end := time.Now().Add(20 * time.Second); descendants(root).allStopped(); {
		if time.Now().After(end) {
			t.Fatal("they stay stopped")
		}
	}
}
