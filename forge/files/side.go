package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"agent/internal/fsx"
)

// Names in the directory of the tasks.
const (
	sideDir  = ".agent"
	lockFile = sideDir + "/lock"
	lastFile = sideDir + "/last.json"
	ignore   = sideDir + "/.gitignore"
)

// side is what the file of a task does not say: the order in which labels came and
// went, and the highest id of a comment that there ever was. It is kept beside the
// tasks. If it is lost, labels count as never set, and ids go on from the highest
// that stands in the file.
type side struct {
	Labels   []string          `json:"labels"` // as they were last seen
	Put      map[string]placed `json:"put"`    // who put each there, and when
	Events   int64             `json:"events"` // the id of the latest
	Comments int               `json:"comments"`
}

// placed is that a label was put on a task.
type placed struct {
	Event int64     `json:"event"`
	At    time.Time `json:"at"`
	By    string    `json:"by,omitempty"` // "": the file does not say
}

func sideFile(number int) string { return sideDir + "/" + strconv.Itoa(number) + ".json" }

// observe notes which labels came and went since the last time.
func (s *side) observe(labels []string, by string, now time.Time) (changed bool) {
	if s.Put == nil {
		s.Put = map[string]placed{}
	}
	for _, l := range labels {
		if !slices.Contains(s.Labels, l) {
			s.Events++
			s.Put[l] = placed{s.Events, now, by}
			changed = true
		}
	}
	for _, l := range s.Labels {
		if !slices.Contains(labels, l) {
			s.Events++
			changed = true
		}
	}
	s.Labels = slices.Clone(labels)
	return changed
}

// readSide gives an empty one where there is none, or none that can be read.
func readSide(fsys fsx.FS, number int) (s side, err error) {
	err = readJSON(fsys, sideFile(number), &s)
	return s, err
}

func readJSON(fsys fsx.FS, name string, v any) error {
	data, err := fsx.ReadFile(fsys, name, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s cannot be read: remove it; ids then go on from the highest that the tasks show", name)
	}
	return nil
}

func writeJSON(fsys fsx.FS, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return fsx.WriteFile(fsys, name, append(data, '\n'))
}

// makeSide makes the directory, and keeps it out of the people's commits.
func makeSide(fsys fsx.FS) error {
	if _, err := fsys.Lstat(ignore); err == nil {
		return nil
	}
	if err := fsx.MkdirSync(fsys, sideDir); err != nil {
		return err
	}
	return fsx.WriteFile(fsys, ignore, []byte("*\n"))
}
