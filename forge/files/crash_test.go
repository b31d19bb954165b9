package files

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/forge"
	"agent/internal/fsx"
)

// steps is what an agent does with a task, and how the file shows that it was done.
var steps = []struct {
	name string
	do   func(t *testing.T, c *Client, task forge.TaskKey) error
	done func(text string) bool
}{
	{"number", func(t *testing.T, c *Client, _ forge.TaskKey) error {
		_, err := c.ListTasks(t.Context(), "todo")
		return err
	},
		func(text string) bool { return strings.Contains(text, "\nnumber: ") }},
	{"ids", func(t *testing.T, c *Client, task forge.TaskKey) error {
		_, err := c.Comments(t.Context(), task, time.Time{})
		return err
	},
		func(text string) bool { return strings.Contains(text, "=== @al #1 ") }},
	{"labels", func(t *testing.T, c *Client, task forge.TaskKey) error {
		_, err := c.ChangeLabels(t.Context(), task, []forge.Label{{Name: "at work"}}, []string{"todo"})
		return err
	}, func(text string) bool { return strings.Contains(text, "labels: [at work]") }},
	{"comment", func(t *testing.T, c *Client, task forge.TaskKey) error {
		_, err := c.PostComment(t.Context(), task, "hello")
		return err
	},
		func(text string) bool { return strings.Contains(text, "=== @agent #") }},
	{"edit", func(t *testing.T, c *Client, task forge.TaskKey) error {
		all, err := c.Comments(t.Context(), task, time.Time{})
		if err == nil { // an id may be left out, too
			_, err = c.EditComment(t.Context(), task, all[len(all)-1].ID, "hello again")
		}
		return err
	}, func(text string) bool { return strings.Contains(text, "hello again") }},
	{"change", func(t *testing.T, c *Client, task forge.TaskKey) error {
		_, err := c.OpenChange(t.Context(), task, forge.ChangeSpec{Branch: "b", Base: "main"})
		return err
	}, func(text string) bool { return strings.Contains(text, "branch: b") }},
}

func onDisk(t *testing.T, disk *fsx.Mem) *Client {
	t.Helper()
	c, err := New(Config{Directory: "/tasks", Name: "inbox", FS: disk, Repository: "https://git.example.com/r.git"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newDisk(t *testing.T) *fsx.Mem {
	t.Helper()
	disk := fsx.NewMem()
	f, err := disk.OpenFile("a.md", os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.Write([]byte("---\ntitle: T\nlabels: [todo]\nmine: kept\n---\nBody\n\n=== @al\nBy hand\n"))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = disk.SyncDir(".")
	}
	if err != nil {
		t.Fatal(err)
	}
	return disk
}

func textOf(t *testing.T, disk fsx.FS) string {
	t.Helper()
	data, err := fsx.ReadFile(disk, "a.md", maxFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Killed at every operation of the disk, with and without a power cut: the file is whole,
// holds what was acknowledged and at most one step more, and the next process finishes
// with each step done once and no id given twice.
func TestKilledAtEveryOperation(t *testing.T) {
	disk := newDisk(t)
	first := disk.Ops()
	for _, s := range steps {
		if err := s.do(t, onDisk(t, disk), key(1)); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	last := disk.Ops()
	for n := first + 1; n <= last; n++ {
		for _, power := range []int64{0, int64(n)} {
			t.Run(fmt.Sprintf("operation %d, power cut %v", n, power > 0), func(t *testing.T) { killedAt(t, n, power) })
		}
	}
}

func killedAt(t *testing.T, n int, power int64) {
	disk := newDisk(t)
	disk.KillAt(n, n%2 == 0)
	acknowledged := 0
	for c := onDisk(t, disk); acknowledged < len(steps) && steps[acknowledged].do(t, c, key(1)) == nil; acknowledged++ {
	}
	if power > 0 {
		disk = disk.Crash(power, 0.5)
	} else {
		disk = disk.Kill()
	}
	text := textOf(t, disk)
	if _, err := parse([]byte(text)); err != nil || !strings.Contains(text, "mine: kept") || !strings.Contains(text, "By hand") {
		t.Fatalf("%v in\n%s", err, text)
	}
	for i, s := range steps {
		if done := s.done(text); i < acknowledged && !done || i > acknowledged && done {
			t.Errorf("%d steps were acknowledged; %s: %v in\n%s", acknowledged, s.name, done, text)
		}
	}
	c := onDisk(t, disk)
	for _, s := range steps[min(acknowledged, len(steps)):] {
		if s.done(textOf(t, disk)) { // as the engine finds out before it writes again
			continue
		}
		d, err := parse([]byte(textOf(t, disk)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.do(t, c, key(d.head.Number)); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	d, err := parse([]byte(textOf(t, disk)))
	if err != nil || len(d.sections) != 2 || d.head.Number < 1 || d.head.Number > 2 || // a number may be left out
		!slices.Equal(d.head.Labels, []string{"at work"}) || len(d.head.Changes) != 1 {
		t.Errorf("ended as %v\n%s", err, textOf(t, disk))
	}
}
