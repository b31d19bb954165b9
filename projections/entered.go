package projections

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"agent/eventlog/event"
)

// Entered says which files with rules for a directory are due: work went there, and the
// model was not shown them.
type Entered struct {
	Due   []string // paths of the files, in the order in which they became due
	shown map[string]bool
}

func (s *State) applyEntered(body event.Body) {
	switch b := body.(type) {
	case *event.ToolRequested:
		s.wentInto(b)
	case *event.MessageAdded:
		s.rulesShown(b)
	}
}

// wentInto looks where a call goes.
func (s *State) wentInto(b *event.ToolRequested) {
	if s.Project == nil || len(s.Project.Nested) == 0 || len(s.Entered.shown) == len(s.Project.Nested) {
		return
	}
	var at []string
	for _, p := range placesIn(b.Args.View()) {
		at = append(at, s.inCopy(p))
	}
	for _, r := range s.Project.Nested {
		dir := path.Dir(r.Path)
		if !s.Entered.shown[r.Path] && !slices.Contains(s.Entered.Due, r.Path) &&
			slices.ContainsFunc(at, func(p string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }) {
			s.Entered.Due = append(s.Entered.Due, r.Path)
		}
	}
}

// rulesShown notes which the model has seen.
func (s *State) rulesShown(b *event.MessageAdded) {
	if len(b.Rules) == 0 {
		return
	}
	if s.Entered.shown == nil {
		s.Entered.shown = map[string]bool{}
	}
	for _, p := range b.Rules {
		s.Entered.shown[p] = true
	}
	s.Entered.Due = slices.DeleteFunc(slices.Clone(s.Entered.Due), func(p string) bool { return s.Entered.shown[p] })
}

// inCopy is a path relative to the working copy.
func (s *State) inCopy(p string) string {
	if s.Workspace != nil && s.Workspace.Dir != "" {
		if rest, ok := strings.CutPrefix(p, s.Workspace.Dir+"/"); ok {
			p = rest
		}
	}
	return path.Clean(p)
}

// placesIn are the paths that the arguments of a call may name: those of a command are
// its words, also below the directory that it runs in. What is written into a file is none.
func placesIn(args string) (places []string) {
	var a map[string]any
	if json.Unmarshal([]byte(args), &a) != nil {
		return nil
	}
	cwd, _ := a["cwd"].(string)
	for key, value := range a {
		switch v := value.(type) {
		case string:
			switch key {
			case "content", "old_text", "new_text", "message", "pattern":
			case "patch":
				places = append(places, pathsOfPatch(v)...)
			case "command":
				places = append(places, words(cwd, v)...)
			default:
				if len(v) <= longestEdited {
					places = append(places, v)
				}
			}
		case []any:
			for _, word := range v {
				if text, ok := word.(string); ok && len(text) <= longestEdited {
					places = append(places, text, path.Join(cwd, text))
				}
			}
		}
	}
	return places
}

// longestLine is how many bytes of a shell line are looked at.
const longestLine = 8 << 10

// words are those of a shell line.
func words(cwd, line string) (all []string) {
	for _, word := range strings.FieldsFunc(line[:min(len(line), longestLine)], func(r rune) bool { return strings.ContainsRune(" \t\n\"'`=:;|&()<>{},$", r) }) {
		all = append(all, word, path.Join(cwd, word))
	}
	return all
}
