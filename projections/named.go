package projections

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"agent/internal/lazyregexp"
)

// looking are words in the names of tools that change no file.
var looking = lazyregexp.New(`(?i)read|list|search|grep|find|glob|get|show|view`)

// edit notes the paths that a call which changed files names. A command names what
// it likes: it is no edit.
func (w *Work) edit() {
	c := w.calling
	if c == nil || looking.MatchString(c.Tool) && !isWrite(c.Tool) {
		return
	}
	for _, p := range pathsIn(c.Args.View()) {
		if w.edited == nil {
			w.edited = map[string]bool{}
		}
		w.edited[path.Clean(p)] = true
	}
}

// longestEdited is how many bytes a path has at most.
const longestEdited = 512

// pathsIn are the short texts in the arguments of a call that is no command.
func pathsIn(args string) (paths []string) {
	var top map[string]any
	if json.Unmarshal([]byte(args), &top) != nil || isCommand(args) {
		return nil
	}
	if patch, ok := top["patch"].(string); ok {
		return pathsOfPatch(patch)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if v != "" && len(v) <= longestEdited {
				paths = append(paths, v)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(top)
	return paths
}

// isCommand reports whether the arguments of a call are a command.
func isCommand(args string) bool {
	var a struct{ Argv, Command any }
	return json.Unmarshal([]byte(args), &a) == nil && (a.Argv != nil || a.Command != nil)
}

// patchHeads begin the lines of a patch that name a file.
var patchHeads = []string{"+++ b/", "+++ ", "*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "rename to ", "--- a/"}

// pathsOfPatch are the files that a patch names, each once.
func pathsOfPatch(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, head := range patchHeads {
			name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), head)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			if name = strings.TrimSpace(name); name != "" && name != "/dev/null" && len(name) <= longestEdited && !slices.Contains(paths, name) {
				paths = append(paths, name)
			}
			break
		}
	}
	return paths
}

// writes notes what a call has written: the files of a patch, else what it is about.
func (w *Work) writes(subject string) {
	if w.calling == nil || w.calling.Tool != "apply_patch" {
		w.wrote(subject)
		return
	}
	for _, p := range pathsIn(w.calling.Args.View()) {
		w.wrote(p)
	}
}

// Named reports whether an edit named a file, or an earlier attempt left it.
func (s *State) Named(name string) bool {
	if s.Workspace != nil && slices.Contains(s.Workspace.Continued.Files, name) {
		return true
	}
	for p := range s.Work.edited {
		if p == name || strings.HasSuffix(p, "/"+name) { // tools may take absolute paths
			return true
		}
	}
	return false
}

// Paths are the words of a text that may be paths, in lower case.
type Paths map[string]bool

var pathWords = []*lazyregexp.Regexp{lazyregexp.New(`[\pL\pN_.~+@/-]+`), lazyregexp.New(`[A-Za-z0-9_.~+@/-]+`)}

// add adds the words of a text.
func (w Paths) add(text string) {
	for _, r := range pathWords {
		for _, word := range r.FindAllString(strings.ToLower(text), -1) {
			w[strings.Trim(strings.TrimRight(strings.TrimPrefix(word, "./"), "."), "/")] = true
		}
	}
}

// TaskPaths are the words of the task and of the comments that are input.
func (s *State) TaskPaths() Paths {
	words := Paths{}
	if s.Task != nil {
		words.add(s.Task.Title)
		words.add(s.Task.Body.View())
	}
	maps.Copy(words, s.Comments.words)
	return words
}

// Prefix is the path, or the outermost directory of it, that the words name: whole,
// or by its own name. It is empty if they name none.
func (w Paths) Prefix(name string) string {
	for end := 0; end < len(name); end++ {
		start := end
		if slash := strings.IndexByte(name[end:], '/'); slash >= 0 {
			end += slash
		} else {
			end = len(name)
		}
		if w[strings.ToLower(name[:end])] || w[strings.ToLower(name[start:end])] {
			return name[:end]
		}
	}
	return ""
}
