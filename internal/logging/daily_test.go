package logging

import (
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const testSize = 10_000

// A week under cron: every process writes a line or two and ends, several at once.
// None of them sees midnight, and one file a day is kept, compressed.
func TestOneFileADay(t *testing.T) {
	dir := t.TempDir()
	begin := time.Now().AddDate(0, 0, -6)
	for day := range 7 {
		for run := range 3 {
			at := begin.AddDate(0, 0, day).Add(time.Duration(run) * time.Second)
			var together sync.WaitGroup
			for process := range 4 {
				together.Go(func() { writeAt(t, dir, at, fmt.Sprintf("day %d run %d process %d", day, run, process)) })
			}
			together.Wait()
		}
	}
	old, _ := filepath.Glob(filepath.Join(dir, "agent-*"))
	if len(old) != 6 {
		t.Fatalf("kept %q, want six earlier days", old)
	}
	for i, name := range old {
		if want := "agent-" + begin.AddDate(0, 0, i).Format(dayForm) + ".log.gz"; filepath.Base(name) != want {
			t.Errorf("%s holds what %s should", filepath.Base(name), want)
		}
		text := unzipped(t, name)
		day := text[strings.Index(text, "day "):][:5]
		if n := strings.Count(text, "\n"); n != 12 || strings.Count(text, day) != 12 {
			t.Errorf("%s holds %d lines, %d of them of %s:\n%s", filepath.Base(name), n, strings.Count(text, day), day, text)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil || strings.Count(string(text), "day 6") != 12 || strings.Count(string(text), "\n") != 12 {
		t.Errorf("today's file: %v\n%s", err, text)
	}
}

// A loop that is not ended leaves the file of yesterday when its next record comes, also
// if another process has rotated it already.
func TestLoopOverMidnight(t *testing.T) {
	dir := t.TempDir()
	now := time.Now().AddDate(0, 0, -1)
	loop := &daily{dir: dir, now: func() time.Time { return now }, max: testSize}
	defer loop.Close()
	record(t, loop, now, "loop before midnight")
	now = now.AddDate(0, 0, 1)
	writeAt(t, dir, now, "cron after midnight")
	record(t, loop, now, "loop after midnight")
	text, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil || strings.Contains(string(text), "before") || strings.Count(string(text), "after") != 2 {
		t.Errorf("today's file: %v\n%s", err, text)
	}
	if old, _ := filepath.Glob(filepath.Join(dir, "agent-*")); len(old) != 1 || !strings.Contains(unzipped(t, old[0]), "loop before midnight") {
		t.Errorf("kept %q", old)
	}
}

// What is older than a month goes, and a file that is too long is rotated within its day.
func TestOldAndLongFiles(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	old := filepath.Join(dir, "agent-"+now.AddDate(0, 0, -keepDays-1).Format(dayForm)+".log.gz")
	for _, name := range []string{old, filepath.Join(dir, "agent-"+now.Format(dayForm)+".log.gz")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeAt(t, dir, now, "long")
	if err := os.Truncate(filepath.Join(dir, fileName), testSize+1); err != nil {
		t.Fatal(err)
	}
	writeAt(t, dir, now, "short")
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("%s is kept: %v", old, err)
	}
	if text := unzipped(t, filepath.Join(dir, "agent-"+now.Format(dayForm)+".2.log.gz")); !strings.Contains(text, "long") {
		t.Errorf("the second file of the day holds %.100q", text)
	}
	if text, err := os.ReadFile(filepath.Join(dir, fileName)); err != nil || !strings.Contains(string(text), "short") || len(text) > 1000 {
		t.Errorf("%v, %d bytes", err, len(text))
	}
}

// What cannot be compressed or rotated stays as it is, and records are written on.
func TestRotationThatFails(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	name := filepath.Join(dir, "agent-2026-11-27.log")
	if err := os.WriteFile(name, []byte("a record\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(name+".gz", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := compress(name); err == nil {
		t.Error("a directory was replaced")
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "a record\n" {
		t.Errorf("the file that could not be compressed holds %q, %v", text, err)
	}
	writeAt(t, dir, now.AddDate(0, 0, -1), "yesterday")
	if err := os.MkdirAll(filepath.Join(dir, lockName), 0o700); err != nil { // no lock can be taken
		t.Fatal(err)
	}
	writeAt(t, dir, now, "today")
	if text, err := os.ReadFile(filepath.Join(dir, fileName)); err != nil || !strings.Contains(string(text), "yesterday") || !strings.Contains(string(text), "today") {
		t.Errorf("the log holds %q, %v", text, err)
	}
}

// The day of a file whose first line is no record is that of its last change.
func TestDayOfADamagedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), fileName)
	yesterday := time.Now().AddDate(0, 0, -1)
	for text, want := range map[string]string{"": "", "no record\n": yesterday.Format(dayForm), strings.Repeat("x", 1<<20): yesterday.Format(dayForm)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, yesterday, yesterday); err != nil {
			t.Fatal(err)
		}
		if got, err := dayOf(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%.10q is of %q, %v; want %q", text, got, err, want)
		}
	}
}

func writeAt(t *testing.T, dir string, at time.Time, text string) {
	t.Helper()
	d := &daily{dir: dir, now: func() time.Time { return at }, max: testSize}
	record(t, d, at, text)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func record(t *testing.T, w io.Writer, at time.Time, text string) {
	t.Helper()
	r := slog.NewRecord(at, slog.LevelInfo, text, 0)
	if err := slog.NewJSONHandler(w, nil).Handle(t.Context(), r); err != nil {
		t.Error(err)
	}
}

func unzipped(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
