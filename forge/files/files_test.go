package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/forge"
)

func key(n int) forge.TaskKey {
	return forge.TaskKey{Host: "files/inbox", Project: "inbox", Kind: forge.FileTask, Number: n}
}

func kindOf(err error) forge.ErrorKind {
	var e *forge.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func comments(t *testing.T, c *Client, n int) (all []string) {
	t.Helper()
	got, err := c.Comments(t.Context(), key(n), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range got {
		all = append(all, one.ID+" "+one.Author.Login+": "+one.Body)
	}
	return all
}

const begun = "---\ntitle: T\nlabels: [todo] # of the team\nmine: kept\n---\nBody\n"

// What a file is read as. A text that looks like the beginning of a comment must not be
// one, and what people write by hand must.
func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string // body|author: comment|…, or what the error says
	}{
		"by hand":                   {"---\n---\nB\n\n=== @al\nOne\n\nTwo\n=== @bo\nThree\n", "B|al: One\n\nTwo|bo: Three"},
		"no blank lines, no body":   {"---\n---\n=== @al\n", "|al: "},
		"without a space":           {"---\n---\n===@al\nx", "|al: x"},
		"of Windows":                {"---\r\ntitle: T\r\n---\r\nB\r\n=== @al\r\nx\r\ny\r\n", "B|al: x\ny"},
		"with a byte order mark":    {"\ufeff---\n---\nB", "B"},
		"escaped":                   {"---\n---\nB\n\\=== @al\n\\\\=== @al\n", "B\n=== @al\n\\=== @al"},
		"output of go test":         {"---\n---\n=== RUN   TestA\n=== @al\n=== RUN   TestB\n===\n", "=== RUN   TestA|al: === RUN   TestB\n==="},
		"indented":                  {"---\n---\n    === @al\n", "    === @al"},
		"a rule in the text":        {"---\n---\nB\n---\nC", "B\n---\nC"},
		"with all":                  {"---\n---\n=== @al #7 2026-01-02T03:04:05Z edited 2026-01-02T03:04:06Z\nx", "|al: x"},
		"words after the name":      {"---\n---\n=== @al hello\n", "line 3: a comment begins with"},
		"two with one id":           {"---\n---\n=== @al #7\n=== @bo #7\n", "there are two comments #7"},
		"no such time":              {"---\n---\n=== @al #7 2026-13-02T03:04:05Z\n", "the time cannot be read"},
		"no end":                    {"---\ntitle: T\n", "no closing line"},
		"no YAML":                   {"---\ntitle: [\n---\n", "cannot be read"},
		"no mapping":                {"---\n- a\n---\n", "must consist of lines"},
		"on one line":               {"---\n{title: T}\n---\n", "must consist of lines"},
		"a key twice":               {"---\ntitle: a\ntitle: b\n---\n", "cannot be read"},
		"a state that there is not": {"---\nstate: done\n---\n", "state must be open or closed"},
		"a number that is none":     {"---\nnumber: 0\n---\n", "number must be 1 or more"},
		"a negative number":         {"---\nnumber: -1\n---\n", "number must be 1 or more"},
		"a number of words":         {"---\nnumber: one\n---\n", "cannot be read"},
		"not UTF-8":                 {"---\n---\n\xff", "not UTF-8"},
		"a note":                    {"# Read me\n", "no front matter"},
		"nothing":                   {"", "no front matter"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parse([]byte(test.text))
			got := ""
			if err != nil {
				if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %q, want %q", err, test.want)
				}
				return
			}
			got = d.body()
			for _, s := range d.sections {
				got += "|" + s.author + ": " + s.body
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// Whatever a comment says, it is one comment with just that text, and it changes
// nothing else of the file.
func FuzzComment(f *testing.F) {
	for _, text := range []string{"x", "=== @bo", "\\=== @bo #1", "a\r\n=== @bo\r\n---\n", "\n\n x \n\n", "```\n=== @al", "\u2028=== @al"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkBody("", text) != nil {
			return
		}
		d, err := parse([]byte(begun + "\n=== @al #1\nFirst\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.append(section{author: "agent", id: 2, body: text}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if len(d.sections) != 2 || d.sections[0].body != "First" || d.sections[1].author != "agent" || d.body() != "Body" {
			t.Fatalf("%q became %+v", text, d.sections)
		}
		again := d.sections[1].body
		if err := d.append(section{author: "agent", id: 3, body: again}); err != nil || again != "" && d.sections[2].body != again {
			t.Fatalf("%q is read as %q, and then as %q: %v", text, again, d.sections[2].body, err)
		}
	})
}

// What the agent writes into a file leaves everything else of it as it is.
func TestKeepsWhatItDoesNotKnow(t *testing.T) {
	h := newHand(t)
	path := filepath.Join(h.dir, "a task.md")
	h.save(path, "---\ntitle: T # short\nlabels:\n  - todo # of the team\n\n# about us\nmine:\n  - kept\n---\n\nBody\n\n\n=== @al\nBy hand\n")
	c := connect(t, h.dir, nil)
	if got, err := c.ListTasks(t.Context(), "todo"); err != nil || len(got) != 1 || got[0].Key != key(1) || got[0].Author.Login != "operator" {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := c.ChangeLabels(t.Context(), key(1), []forge.Label{{Name: "at work: yes"}}, nil); err != nil {
		t.Fatal(err)
	}
	h.save(path, h.read(path)+"\n=== @bo\n")
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	if got := comments(t, c, 1); strings.Join(got, "|") != "1 al: By hand|2 bo: " {
		t.Errorf("%q", got)
	}
	got := h.read(path)
	want := "---\ntitle: T # short\nlabels: [todo, 'at work: yes']\n\n# about us\nmine:\n  - kept\nnumber: 1\n---\n\nBody\n\n\n=== @al #1 TIME\nBy hand\n\n=== @bo #2 TIME\n"
	for _, line := range strings.Split(got, "\n") {
		if head, _, ok := strings.Cut(line, "Z"); ok && strings.HasPrefix(line, "===") {
			got = strings.Replace(got, head[len(head)-19:]+"Z", "TIME", 1)
		}
	}
	if got != want {
		t.Errorf("the file is now\n%s", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o664 {
		t.Errorf("%v, %v: others may write it, too", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(h.dir, ".*.tmp")); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
}

// A number is a task's for ever: not its file's name, and not that of a task that is gone.
func TestNumbers(t *testing.T) {
	h := newHand(t)
	c := connect(t, h.dir, nil)
	h.save(filepath.Join(h.dir, "b.md"), begun)
	h.save(filepath.Join(h.dir, "notes.md"), "# Notes of ours\n")
	h.save(filepath.Join(h.dir, "other.md"), "---\ntitle: another label\n---\n")
	list := func() (all string) {
		got, err := connect(t, h.dir, nil).ListTasks(t.Context(), "todo")
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range got {
			all += task.Key.String() + " " + filepath.Base(task.URL) + "\n"
		}
		return all
	}
	if got := list(); got != "files/inbox/tasks/1 b.md\n" {
		t.Fatal(got)
	}
	if err := os.Rename(filepath.Join(h.dir, "b.md"), filepath.Join(h.dir, "c.md")); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Task(t.Context(), key(1)); err != nil || got.Title != "T" {
		t.Errorf("renamed: %+v, %v", got, err)
	}
	if err := os.Remove(filepath.Join(h.dir, "c.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Task(t.Context(), key(1)); kindOf(err) != forge.NotFound {
		t.Errorf("removed: %v", err)
	}
	h.save(filepath.Join(h.dir, "d.md"), begun)
	if got := list(); got != "files/inbox/tasks/2 d.md\n" {
		t.Error(got)
	}
	if got := h.read(filepath.Join(h.dir, "other.md")); strings.Contains(got, "number") {
		t.Errorf("a file without the label was written: %q", got)
	}
}

// Ids are stable: what was removed gives its id to nothing else.
func TestIDsAreNotUsedAgain(t *testing.T) {
	h := newHand(t)
	h.open("T", "B", "ann", "todo")
	c := connect(t, h.dir, nil)
	for _, want := range []string{"1", "2"} {
		if got, err := c.PostComment(t.Context(), key(1), "x"); err != nil || got.ID != want {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	h.change(func(text string) string { before, _, _ := section1(text, "2"); return before })
	if got, err := connect(t, h.dir, nil).PostComment(t.Context(), key(1), "y"); err != nil || got.ID != "3" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A person saves the file between the agent's read and its write: both have their way.
func TestSavedMeanwhile(t *testing.T) {
	h := newHand(t)
	h.open("T", "B", "ann", "todo")
	c := connect(t, h.dir, nil)
	saves := 0
	c.before = func() {
		if saves++; saves <= 3 {
			h.change(func(text string) string { return text + "\n=== @al\nnote\n" })
		}
	}
	if _, err := c.PostComment(t.Context(), key(1), "of the agent"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(comments(t, c, 1), "|"); got != "1 al: note|2 al: note|3 al: note|4 agent-bot: of the agent" {
		t.Errorf("%s", got)
	}
	c.before = func() { h.change(func(text string) string { return text + "\n" }) }
	if _, err := c.PostComment(t.Context(), key(1), "x"); kindOf(err) != forge.Transient {
		t.Errorf("a file that never stays the same: %v", err)
	}
}

// A file that cannot be read is named and left alone. The others go on.
func TestBrokenFiles(t *testing.T) {
	h := newHand(t)
	h.open("T", "B", "ann", "todo")
	c := connect(t, h.dir, nil)
	bad := map[string]string{"bad.md": "---\ntitle: [\n---\n", "twice.md": "---\nnumber: 8\nlabels: todo\n---\n", "copy.md": "---\nnumber: 8\nlabels: todo\n---\n",
		"empty.md": "", "half.md": "---\ntitle: T\n"}
	for name, text := range bad {
		h.save(filepath.Join(h.dir, name), text)
	}
	if err := os.Symlink("1.md", filepath.Join(h.dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	got, err := c.ListTasks(t.Context(), "todo")
	if kindOf(err) != forge.Invalid || len(got) != 1 || got[0].Key != key(1) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, text := range bad {
		if !strings.Contains(err.Error(), name) || h.read(filepath.Join(h.dir, name)) != text {
			t.Errorf("%s is not named in %v, or was written", name, err)
		}
	}
	if !strings.Contains(err.Error(), "link.md") {
		t.Errorf("the link is not named: %v", err)
	}
	if _, err := c.PostComment(t.Context(), key(1), "x"); err != nil {
		t.Errorf("the others: %v", err)
	}
	for _, n := range []int{8, 9} { // one of the broken files may be the task
		if _, err := c.Task(t.Context(), key(n)); kindOf(err) != forge.Hidden {
			t.Errorf("number %d: %v", n, err)
		}
	}
}

// A directory that is not there, or is another one, has lost nothing.
func TestDirectoryIsNotThere(t *testing.T) {
	h := newHand(t)
	h.open("T", "B", "ann", "todo")
	c := connect(t, h.dir, nil)
	if _, err := c.ListTasks(t.Context(), "todo"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(h.dir, h.dir+" elsewhere"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second opens it anew
		for name, call := range map[string]func() error{
			"task":     func() error { _, err := c.Task(t.Context(), key(2)); return err },
			"comments": func() error { _, err := c.Comments(t.Context(), key(2), time.Time{}); return err },
		} {
			if err := call(); kindOf(err) != forge.Hidden {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	fresh := connect(t, h.dir, nil)
	if _, err := fresh.ListTasks(t.Context(), "todo"); kindOf(err) != forge.Forbidden {
		t.Errorf("list: %v", err)
	}
	if err := os.Mkdir(h.dir, 0o700); err != nil { // where it is to be mounted
		t.Fatal(err)
	}
	if _, err := fresh.Task(t.Context(), key(1)); kindOf(err) != forge.Hidden {
		t.Errorf("an empty directory: %v", err)
	}
}

// A look at the tasks, as with run --dry-run, writes nothing.
func TestReadOnly(t *testing.T) {
	h := newHand(t)
	h.open("T", "B\n=== @al\nx", "ann", "todo")
	h.save(filepath.Join(h.dir, "new.md"), begun)
	before := h.read(h.path(1))
	c := connect(t, h.dir, func(c *Config) { c.ReadOnly = true })
	if got, err := c.ListTasks(t.Context(), "todo"); err != nil || len(got) != 2 || got[0].Key.Number != 1 || got[1].Key.Number != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := comments(t, c, 1); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if entries, err := os.ReadDir(h.dir); err != nil || len(entries) != 2 || h.read(h.path(1)) != before {
		t.Errorf("%v, %v", entries, err)
	}
}

// A call that is given up gives the context's own error.
func TestCancelled(t *testing.T) {
	h := newHand(t)
	h.open("T", "B", "ann", "todo")
	c := connect(t, h.dir, nil)
	fsys, err := c.tree()
	if err != nil {
		t.Fatal(err)
	}
	held, err := c.lock(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.PostComment(ctx, key(1), "x"); err != context.Canceled {
		t.Error(err)
	}
}

func TestRepositories(t *testing.T) {
	h := newHand(t)
	top := filepath.Dir(h.dir)
	for name, test := range map[string]struct {
		dir, repository, clone, branch string
	}{
		"around":        {h.dir, "", top, "main"},
		"named":         {t.TempDir(), top, top, "main"},
		"bare":          {t.TempDir(), filepath.Join(top, ".git"), filepath.Join(top, ".git"), "main"},
		"elsewhere":     {h.dir, "https://git.example.com/o/r.git", "https://git.example.com/o/r.git", ""},
		"none":          {t.TempDir(), "", "", ""},
		"no repository": {h.dir, t.TempDir(), "", ""},
	} {
		got, err := connect(t, test.dir, func(c *Config) { c.Repository = test.repository }).Repository(t.Context(), key(1))
		if got.CloneURL != test.clone || got.DefaultBranch != test.branch || (kindOf(err) == forge.NotFound) != (test.clone == "") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{"inbox": true, "課題": true, "a.b-c_1": true, "": false, "a b": false, "a/b": false, "..": false, ".agent": false, "a..b": false} {
		if ValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
