package trees

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"agent/internal/snapshot"
)

// Difference is one file that differs between two trees.
type Difference struct {
	Path    string `json:"path"`
	Change  string `json:"change"` // added | deleted | changed | mode | type
	Added   int    `json:"added"`  // lines
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"`
	Patch   string `json:"patch"` // in git's form, redacted; of a binary or very large file only that it differs
}

const (
	largest = 4 << 20 // bytes of a file whose lines are compared
	looked  = 8000    // bytes in which a NUL makes a file binary, as for git
)

// contents finds what files held.
type contents func(name string) ([]byte, bool)

// Diff compares two trees of a context.
func (v *View) Diff(before, now string) ([]Difference, error) {
	return v.diff(v, before, now)
}

// Size counts what a run changed in all: files, and their lines that were added and removed.
func (v *View) Size() (files, added, removed int, err error) {
	all, err := v.Diff(v.Start(), v.End())
	for _, f := range all {
		files, added, removed = files+1, added+f.Added, removed+f.Removed
	}
	return files, added, removed, err
}

// Between compares the files of two contexts.
func (v *View) Between(before string, other *View, now string) ([]Difference, error) {
	return v.diff(other, before, now)
}

func (v *View) diff(other *View, before, now string) ([]Difference, error) {
	if before == now {
		return []Difference{}, nil
	}
	b, err := v.either(other, before)
	if err != nil {
		return nil, err
	}
	n, err := other.either(v, now)
	if err != nil {
		return nil, err
	}
	differences, err := snapshot.Compare(b, n)
	if err != nil {
		return nil, err
	}
	blob := func(name string) ([]byte, bool) {
		if data, ok := v.store.Blob(name); ok {
			return data, true
		}
		return other.store.Blob(name)
	}
	all := make([]Difference, 0, len(differences))
	for _, d := range differences {
		all = append(all, v.difference(d, blob))
	}
	return all, nil
}

// either reads a tree that one of two contexts has stored: of files that its own did not
// change the other one may know more.
func (v *View) either(other *View, name string) (*snapshot.Tree, error) {
	base, err := other.store.Tree(name, nil)
	if err != nil {
		base = nil
	}
	tree, err := v.store.Tree(name, base)
	if err != nil && base != nil {
		return base, nil
	}
	return tree, err
}

func (v *View) difference(d snapshot.Difference, blob contents) Difference {
	out := Difference{Path: d.Path, Change: kindOf(d)}
	before, known := v.text(d.Before, blob)
	now, alsoKnown := v.text(d.Now, blob)
	var b strings.Builder
	b.WriteString(header(d))
	switch {
	case d.Before.Name == d.Now.Name:
	case !known || !alsoKnown:
		fmt.Fprintf(&b, "The content of %s is not stored\n", quoted("", d.Path))
	case isBinary(before) || isBinary(now) || len(before)+len(now) > largest:
		out.Binary = isBinary(before) || isBinary(now)
		fmt.Fprintf(&b, "Binary files %s and %s differ\n", side(d.Before, "a/", d.Path), side(d.Now, "b/", d.Path))
	default:
		out.Added, out.Removed, _ = snapshot.Lines(before, now)
		b.Write(lines(d, before, now))
	}
	out.Patch = b.String()
	return out
}

// text is what an entry held, redacted. Nothing held nothing, and a submodule its commit.
func (v *View) text(e snapshot.Entry, blob contents) ([]byte, bool) {
	switch e.Mode {
	case "":
		return nil, true
	case snapshot.ModeSubmodule:
		return []byte("Subproject commit " + e.Name + "\n"), true
	}
	data, ok := blob(e.Name)
	if ok && utf8.Valid(data) {
		data = []byte(v.Clean(string(data)))
	}
	return data, ok
}

func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), looked)], 0) >= 0 }

func kindOf(d snapshot.Difference) string {
	switch {
	case d.Before.Mode == "":
		return "added"
	case d.Now.Mode == "":
		return "deleted"
	case d.Before.Name == d.Now.Name:
		return "mode"
	case (d.Before.Mode == snapshot.ModeLink) != (d.Now.Mode == snapshot.ModeLink):
		return "type"
	}
	return "changed"
}

// header is what git writes before the lines that differ.
func header(d snapshot.Difference) string {
	text := fmt.Sprintf("diff --git %s %s\n", quoted("a/", d.Path), quoted("b/", d.Path))
	switch {
	case d.Before.Mode == "":
		text += "new file mode " + d.Now.Mode + "\n"
	case d.Now.Mode == "":
		text += "deleted file mode " + d.Before.Mode + "\n"
	case d.Before.Mode != d.Now.Mode:
		text += "old mode " + d.Before.Mode + "\nnew mode " + d.Now.Mode + "\n"
	}
	return text
}

// lines are the changed lines with three around them. The library's own first line, which
// names both sides, is not part of a patch.
func lines(d snapshot.Difference, before, now []byte) []byte {
	text := diff.Diff(side(d.Before, "a/", d.Path), before, side(d.Now, "b/", d.Path), now)
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}

func side(e snapshot.Entry, prefix, path string) string {
	if e.Mode == "" {
		return "/dev/null"
	}
	return quoted(prefix, path)
}

// quoted is a name as git writes it in a patch: in quotes with escapes if it holds a
// control character, a quote or a backslash.
func quoted(prefix, path string) string {
	name := prefix + path
	if !strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '"' || r == '\\' || r == utf8.RuneError }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
