package engine

import (
	"errors"
	"slices"

	"agent/contexts"
	"agent/projections"
)

// flushAt is how many bytes of one file a rebuild keeps in memory.
const flushAt = 256 << 10

// rebuild writes projection files anew, in pieces, so that its memory does not
// grow with the log.
type rebuild struct {
	log     *contexts.Context
	pending map[string][]byte
	begun   map[string]bool
}

// Rebuild makes the projection files of a context from its log. The caller
// holds the context.
func Rebuild(store *contexts.Store, log *contexts.Context) error {
	r := newRebuild(log)
	state, files := projections.NewState(), projections.Files{}
	for ev, err := range store.ToFold(log.UUID()) {
		if err == nil {
			state.Apply(ev)
			err = r.add(files.Apply(state, ev))
		}
		if err != nil {
			r.drop()
			return err
		}
	}
	return r.install()
}

func newRebuild(log *contexts.Context) *rebuild {
	return &rebuild{log, map[string][]byte{}, map[string]bool{}}
}

// install puts the files in the place of the old ones, that one last which says that all are whole.
func (r *rebuild) install() error {
	for _, name := range slices.Backward(projections.FileNames(r.log.UUID())) {
		if err := r.finish(name); err != nil {
			r.drop()
			return err
		}
	}
	return nil
}

// drop forgets what was staged: best effort, since the next rebuild starts over.
func (r *rebuild) drop() {
	for name, staged := range r.begun {
		if staged {
			_ = r.log.UnstageFile(name)
		}
	}
}

// RebuildUnsaved makes the projection files of a context that a process could not save.
func RebuildUnsaved(store *contexts.Store, uuid string) error {
	log, err := store.Acquire(uuid, nil)
	if err != nil {
		return err
	}
	if err = Rebuild(store, log); err == nil {
		err = log.SyncFiles()
	}
	return errors.Join(err, log.Close())
}

// Unsaved lists the contexts whose projection files a process could not save.
func Unsaved(store *contexts.Store) ([]string, error) { return store.Lacking(projections.MetadataFile) }

// finish writes what is left of a file. One without content is not there.
func (r *rebuild) finish(name string) error {
	switch data := r.pending[name]; {
	case !r.begun[name] && len(data) == 0:
		return r.log.RemoveFile(name)
	case !r.begun[name]:
		return r.log.WriteFile(name, data)
	}
	if err := r.flush(name); err != nil {
		return err
	}
	r.begun[name] = false
	return r.log.InstallFile(name)
}

// add takes what an event does to the files.
func (r *rebuild) add(changes []projections.FileChange) error {
	for _, c := range changes {
		if !slices.Contains(projections.FileNames(r.log.UUID()), c.Name) {
			continue // of a fork's origin
		}
		if c.Replace {
			r.pending[c.Name], r.begun[c.Name] = slices.Clip(c.Data), false
			continue
		}
		r.pending[c.Name] = append(r.pending[c.Name], c.Data...)
		if len(r.pending[c.Name]) < flushAt {
			continue
		}
		if err := r.flush(c.Name); err != nil {
			return err
		}
	}
	return nil
}

func (r *rebuild) flush(name string) error {
	if len(r.pending[name]) == 0 {
		return nil
	}
	if err := r.log.StageFile(name, r.pending[name], !r.begun[name]); err != nil {
		return err
	}
	r.pending[name], r.begun[name] = r.pending[name][:0], true
	return nil
}
