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
	r := rebuild{log, map[string][]byte{}, map[string]bool{}}
	state, files := projections.NewState(), projections.Files{}
	for ev, err := range store.Events(log.UUID()) {
		if err != nil {
			return err
		}
		state.Apply(ev)
		for _, c := range files.Apply(state, ev) {
			if !slices.Contains(projections.FileNames(log.UUID()), c.Name) {
				continue // of a fork's origin
			}
			if err := r.add(c); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Backward(projections.FileNames(log.UUID())) { // the one that says that all are whole comes last
		if err := r.finish(name); err != nil {
			return err
		}
	}
	return nil
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
	if len(r.pending[name]) == 0 && !r.begun[name] {
		return r.log.RemoveFile(name)
	}
	return r.flush(name)
}

func (r *rebuild) add(c projections.FileChange) error {
	if c.Replace {
		r.pending[c.Name], r.begun[c.Name] = c.Data, false
		return nil
	}
	r.pending[c.Name] = append(r.pending[c.Name], c.Data...)
	if len(r.pending[c.Name]) < flushAt {
		return nil
	}
	return r.flush(c.Name)
}

func (r *rebuild) flush(name string) error {
	data := r.pending[name]
	if len(data) == 0 {
		return nil
	}
	delete(r.pending, name)
	if r.begun[name] {
		return r.log.AppendFile(name, data)
	}
	r.begun[name] = true
	return r.log.WriteFile(name, data)
}
