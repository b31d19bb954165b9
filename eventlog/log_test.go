package eventlog

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent/internal/fsx"
)

func TestAppendAndReopen(t *testing.T) {
	dir := t.TempDir()
	fsys, err := fsx.OpenOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Create(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := l.Append(draft("a.b", `{"x":"é","n":[1,2.5e3,{}]}`)); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	name := filepath.Join(dir, FileName)
	f, _ := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"seq":4`)
	f.Close()
	n := 0
	l2, torn, err := Open(fsys, ".", ".quarantine/u", func(r Record) error {
		n++
		if !r.When().Equal(start.Truncate(time.Microsecond)) {
			t.Errorf("time %v", r.When())
		}
		return nil
	})
	if err != nil || torn == nil || n != 3 {
		t.Fatalf("n %d torn %v err %v", n, torn, err)
	}
	if l2.Head() != l.Head() || l2.Size() != l.Size() {
		t.Errorf("head %v size %d", l2.Head(), l2.Size())
	}
	if got, err := os.ReadFile(filepath.Join(dir, torn.Copy)); err != nil || string(got) != `{"seq":4` {
		t.Errorf("quarantine %q %v", got, err)
	}
	if r, err := l2.Append(draft("c", `{}`)); err != nil || r.Seq != 4 {
		t.Fatal(r, err)
	}
}
