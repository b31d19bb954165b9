package page

import (
	"fmt"
	"strconv"
	"strings"

	"agent/internal/i18n"
	"agent/internal/snapshot"
	"agent/internal/trees"
)

// Diff is one file that a step changed.
type Diff struct {
	ID              string
	Path, Change    string
	Added, Removed  int
	HTML            HTML
	Views, Complete bool // it can be seen before and after; all of the file is there
}

// wholeFile is up to how many bytes of a file are shown beside the lines that changed.
const wholeFile = 24 << 10

// diffs are the files that changed between two trees.
func (b *builder) diffs(seq uint64, from, to string) []Diff {
	v := b.src.Files
	if v == nil || from == to {
		return nil
	}
	all, err := v.Diff(from, to)
	if err != nil {
		return []Diff{{Path: b.line(err.Error())}}
	}
	tree, _ := v.Tree(to)
	var out []Diff
	for i, f := range all {
		d := Diff{ID: fmt.Sprintf("f%d-%d", seq, i), Path: b.line(f.Path), Added: f.Added, Removed: f.Removed,
			Change: strings.TrimSpace(i18n.Text(b.src.Lang, "diff."+i18n.ID(f.Change)))}
		patch := f.Patch
		if room := roomDiffs - b.patches; len(patch) > max(room, 0) || len(patch) > mostText {
			patch = head(patch, max(min(room, mostText), 400))
			b.doc.Cut = true
			d.HTML = b.patch(patch) + "\n" + escape(i18n.Text(b.src.Lang, "page.cut", len(f.Patch)-len(patch)))
		} else {
			whole := b.complete(v, tree, f, patch)
			d.Views, d.Complete = strings.Contains(patch, "\n@@ "), whole != "" || f.Change != "changed"
			if whole != "" {
				patch = whole
			}
			d.HTML = b.patch(patch)
		}
		b.patches += len(d.HTML)
		out = append(out, d)
	}
	return out
}

// complete is a patch with all lines of its file, "" if that is not known or too long.
func (b *builder) complete(v *trees.View, tree *snapshot.Tree, f trees.Difference, patch string) string {
	if tree == nil || f.Change != "changed" || f.Binary || b.patches > roomDiffs/2 {
		return ""
	}
	_, data, err := v.Content(tree, f.Path)
	if err != nil || len(data) > wholeFile {
		return ""
	}
	return expand(patch, strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n"))
}

// expand adds to a patch the lines of the new file that it leaves out.
func expand(patch string, now []string) string {
	var out strings.Builder
	at := 0 // lines of the new file that are there
	keep := func(until int) {
		for ; at < until && at < len(now); at++ {
			out.WriteString(" " + strings.TrimSuffix(now[at], "\n") + "\n")
		}
	}
	inHunk := false
	for l := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(l, "@@ "):
			start, ok := hunkStart(l)
			if !ok {
				return ""
			}
			if !inHunk {
				out.WriteString("@@\n")
			}
			keep(start - 1)
			inHunk = true
		case !inHunk:
			out.WriteString(l)
		default:
			out.WriteString(l)
			if l[0] == ' ' || l[0] == '+' {
				at++
			}
		}
	}
	keep(len(now))
	return out.String()
}

// hunkStart is the first line in the new file of "@@ -1,3 +1,4 @@".
func hunkStart(l string) (int, bool) {
	_, rest, ok := strings.Cut(l, "+")
	if !ok {
		return 0, false
	}
	end := strings.IndexAny(rest, ", ")
	if end < 0 {
		return 0, false
	}
	n, err := strconv.Atoi(rest[:end])
	return n, err == nil
}

// patch is a patch as HTML: lines that were removed and added are marked. The column of
// signs is apart: a file before or after the change has none.
func (b *builder) patch(patch string) HTML {
	var out strings.Builder
	body := false
	for l := range strings.Lines(patch) {
		l = strings.TrimSuffix(l, "\n")
		tag := ""
		switch {
		case strings.HasPrefix(l, "@@"):
			body = true
			if l == "@@" {
				continue
			}
			tag = "i"
		case !body:
			tag = "u"
		case strings.HasPrefix(l, "+"):
			tag = "ins"
		case strings.HasPrefix(l, "-"):
			tag = "del"
		}
		sign := ""
		if body && tag != "i" && l != "" {
			sign, l = "<s>"+l[:1]+"</s>", l[1:]
		}
		text := sign + string(escape(visible(l)))
		if tag == "" && body {
			tag = "q"
		} else if tag == "" {
			out.WriteString(text + "\n")
			continue
		}
		out.WriteString("<" + tag + ">" + text + "\n</" + tag + ">")
	}
	return HTML(out.String())
}
