package cli

import (
	"strings"

	"agent/contexts"
	"agent/internal/sanitize"
	"agent/internal/term"
)

// Each does something with the given contexts, or with all; one that fails does not stop the others.
func (e *Env) Each(store *contexts.Store, refs []string, do func(uuid string) error) (code int, err error) {
	uuids, err := e.uuids(store, refs)
	if err != nil {
		return 0, err
	}
	for _, uuid := range uuids {
		if err := do(uuid); err != nil {
			text := sanitize.Line(strings.TrimPrefix(err.Error(), uuid+" "), 500)
			if !e.JSON {
				e.Paint(term.Bad, uuid+"  "+text)
			} else if err := e.PrintLine(failed{uuid, false, text}); err != nil {
				return code, err
			}
			code = Worse(code, ExitCode(err))
		}
	}
	return code, nil
}

// failed is a context with which something could not be done, as --json prints it.
type failed struct {
	UUID  string `json:"uuid"`
	OK    bool   `json:"ok"`
	Error string `json:"error"`
}

func (e *Env) uuids(store *contexts.Store, refs []string) ([]string, error) {
	var uuids []string
	for _, ref := range refs {
		uuid, err := store.Newest(ref, e.Hosts...)
		if err != nil {
			return nil, err
		}
		uuids = append(uuids, uuid)
	}
	if len(refs) > 0 {
		return uuids, nil
	}
	for entry, err := range store.List() {
		if err != nil {
			e.Warning(err)
			continue
		}
		uuids = append(uuids, entry.UUID)
	}
	return uuids, nil
}
