package contexts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/internal/cluster"
	"agent/internal/cluster/clustertest"
	"agent/internal/fsx"
)

func nothing(int, int) {}

// alone is a machine that works by itself.
func alone(t *testing.T) *Store {
	t.Helper()
	s, err := openReal(filepath.Join(t.TempDir(), "contexts"), Options{Warn: func(err error) { t.Log(err) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// grown makes a context of a task with a large text, a saved file and a last event.
func grown(t *testing.T, s *Store, id, task string, last ...event.Body) (large string) {
	t.Helper()
	first := created(id)
	first.TaskKey = task
	c, err := s.Create(first, at)
	if err != nil {
		t.Fatal(err)
	}
	large = strings.Repeat(id, 5000)
	add(t, c, &event.MessageAdded{Role: "user", Content: event.T(large)})
	if err := c.Objects().Keep("pack-1.pack", []byte("files of "+id)); err != nil {
		t.Fatal(err)
	}
	for _, body := range last {
		add(t, c, body)
	}
	if err := errors.Join(c.KeepPatch([]byte("patch of "+id)), c.Relocate(), c.Close()); err != nil {
		t.Fatal(err)
	}
	return large
}

// What a machine made alone goes on in the cluster, and is there again after an import that
// is repeated. What runs stays where it is.
func TestImport(t *testing.T) {
	old, c := alone(t), clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	oldKey, err := old.Key()
	if err != nil {
		t.Fatal(err)
	}
	large := grown(t, old, idA, key, &event.ContextPaused{})
	grown(t, old, idB, key+"1", &event.ContextCompleted{})
	grown(t, old, idC, key+"2")
	want := map[string]string{idA: wholeLog(t, old, idA), idB: wholeLog(t, old, idB)}
	for n, expect := range []Imported{{Contexts: 2}, {Known: 2}} {
		done, err := a.Import(t.Context(), old, nothing)
		if err != nil || done.Contexts != expect.Contexts || done.Known != expect.Known {
			t.Fatalf("import %d: %+v, %v", n, done, err)
		}
		if len(done.Skipped) != 1 || done.Skipped[0].UUID != idC || !strings.Contains(done.Skipped[0].Reason, "pause it") {
			t.Errorf("import %d left %+v", n, done.Skipped)
		}
	}
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, log := range want {
		if got := wholeLog(t, b.Store, id); got != log {
			t.Errorf("%s is %d bytes on another worker, want %d", id, len(got), len(log))
		}
		if patch, err := b.Patch(id); err != nil || string(patch) != "patch of "+id {
			t.Errorf("patch of %s: %q, %v", id, patch, err)
		}
	}
	taken, events := acquire(t, b.Store, idA)
	if m, ok := events[1].Body.(*event.MessageAdded); !ok || m.Content.Inline != large {
		t.Errorf("the large text is %.20q", events[1].Body)
	}
	if names, err := taken.Objects().Names(); err != nil || len(names) != 1 {
		t.Errorf("saved files: %q, %v", names, err)
	}
	if uuid, live, err := b.Active(key); err != nil || !live || uuid != idA {
		t.Errorf("the task has %q, %v (%v)", uuid, live, err)
	}
	if now, err := b.Key(); err != nil || string(now) != string(oldKey) {
		t.Errorf("the cluster signs comments with another key than the machine that brought them: %v", err)
	}
	if wholeLog(t, old, idA) != want[idA] {
		t.Error("the import changed the store that it read")
	}
}

// A second machine that signed its comments with its own key keeps its paused tasks: the
// cluster would not know their comments and write them again.
func TestImportForeignKey(t *testing.T) {
	old, c := alone(t), clustertest.New()
	a := newWorker(t, c, time.Minute)
	for _, s := range []*Store{a.Store, old} {
		if _, err := s.Key(); err != nil {
			t.Fatal(err)
		}
	}
	grown(t, old, idA, key, &event.ContextPaused{})
	grown(t, old, idB, key+"1", &event.ContextCompleted{})
	done, err := a.Import(t.Context(), old, nothing)
	if err != nil || done.Contexts != 1 || len(done.Skipped) != 1 || done.Skipped[0].UUID != idA || !strings.Contains(done.Skipped[0].Reason, "another key") {
		t.Errorf("%+v, %v", done, err)
	}
}

// patient is a bus that does some changes more and then none.
type patient struct {
	*clustertest.Memory
	left int
}

func (p *patient) spent() bool { p.left--; return p.left < 0 }

func (p *patient) Append(ctx context.Context, uuid string, after uint64, line []byte) func() (uint64, error) {
	if p.spent() {
		return func() (uint64, error) { return 0, cluster.ErrUnreachable }
	}
	return p.Memory.Append(ctx, uuid, after, line)
}

func (p *patient) PutObject(ctx context.Context, name string, data []byte) error {
	if p.spent() {
		return cluster.ErrUnreachable
	}
	return p.Memory.PutObject(ctx, name, data)
}

// An import that breaks off after any request to the cluster is completed by the next one.
func TestImportBrokenOff(t *testing.T) {
	old := alone(t)
	grown(t, old, idA, key, &event.ContextPaused{})
	grown(t, old, idB, key+"1", &event.ContextCompleted{})
	want := wholeLog(t, old, idA) + wholeLog(t, old, idB)
	c := clustertest.New()
	a := newWorker(t, c, time.Minute)
	short := &patient{Memory: a.bus}
	s, err := openReal(a.dir, Options{Bus: short, Member: a.m, Warn: func(err error) { t.Log(err) }})
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for ; ; broken++ {
		short.left = broken
		done, err := s.Import(t.Context(), old, nothing)
		if err == nil && len(done.Skipped) == 0 {
			break
		}
		if err != nil && !errors.Is(err, cluster.ErrUnreachable) {
			t.Fatal(err)
		}
	}
	if broken < 4 {
		t.Fatalf("only %d imports broke off", broken)
	}
	b := newWorker(t, c, time.Minute)
	if err := b.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := wholeLog(t, b.Store, idA) + wholeLog(t, b.Store, idB); got != want {
		t.Errorf("%d bytes of logs arrived, want %d", len(got), len(want))
	}
}

// What only this machine has can be given to the cluster, too; and all that the cluster has
// can leave it for a machine that works alone.
func TestExport(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	large := grown(t, a.Store, idA, key, &event.ContextPaused{})
	grown(t, b.Store, idB, key+"1", &event.ContextCompleted{})
	dir := filepath.Join(t.TempDir(), "export")
	for n := range 2 { // the second one brings it up to date
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		fsys, err := fsx.OpenOS(dir)
		if err != nil {
			t.Fatal(err)
		}
		done, err := b.Export(t.Context(), fsys, dir, nothing)
		if err != nil || done.Contexts != 2 || len(done.Skipped) > 0 {
			t.Fatalf("export %d: %+v, %v", n, done, err)
		}
	}
	s, err := openReal(dir, Options{Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	taken, events := acquire(t, s, idA)
	if m, ok := events[1].Body.(*event.MessageAdded); !ok || m.Content.Inline != large || taken.Dir() != Paused {
		t.Errorf("the large text is %.20q, in %s", events[1].Body, taken.Dir())
	}
	if names, err := taken.Objects().Names(); err != nil || len(names) != 1 {
		t.Errorf("saved files: %q, %v", names, err)
	}
	if patch, err := s.Patch(idB); err != nil || string(patch) != "patch of "+idB {
		t.Errorf("patch: %q, %v", patch, err)
	}
	one, err := a.Key()
	two, twoErr := s.Key()
	if err != nil || twoErr != nil || string(one) != string(two) {
		t.Errorf("the keys differ: %v, %v", err, twoErr)
	}
}

// The day's limit counts what another worker spent a moment ago.
func TestDayLimitOfAll(t *testing.T) {
	c := clustertest.New()
	a, b := newWorker(t, c, time.Minute), newWorker(t, c, time.Minute)
	go func() { _ = b.Mirror(t.Context()) }()
	held, err := a.Create(created(idA), at)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for n := 1; n <= 50; n++ {
		add(t, held, &event.LLMRequested{Estimated: 5})
		add(t, held, &event.LLMReplied{Usage: event.Usage{Prompt: 10}})
		if reached, err := b.DayLimit(Day(at), DayLimits{MaxTokens: 10*n + 1}); err != nil || reached != nil {
			t.Fatalf("call %d: %+v, %v", n, reached, err)
		}
		if reached, err := b.DayLimit(Day(at), DayLimits{MaxTokens: 10 * n}); err != nil || reached == nil {
			t.Fatalf("call %d is not counted (%v)", n, err)
		}
	}
}
