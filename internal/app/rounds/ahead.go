package rounds

import (
	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
	"agent/internal/workspace"
	"agent/projections"
)

// ahead is what a context needs that may be begun: it takes the longest, so it is made while the machine is checked and
// the item labelled.
type ahead struct {
	copy  *workspace.Ahead // nil: none
	tools *app.Ahead       // nil: none
}

// ahead reserves the place of the working copy, starts the servers in it, and lets the ports take them.
func (r *round) ahead(p *engine.Ports, at app.Site, first *event.ContextCreated, t forge.Task) (h ahead) {
	files, clones := p.Workspace.(*workspace.Copy)
	if !clones || r.Room() != nil || r.faulty() {
		return h
	}
	pinned, s := r.pin(at, t.Key.Project), projections.NewState()
	for i, body := range []event.Body{first, &pinned, engine.Fetched(t)} {
		s.Apply(event.Event{Seq: uint64(i + 1), Body: body})
	}
	if h.copy = files.Reserve(s); h.copy == nil {
		return h
	}
	if h.tools = r.OpenAhead(s, h.copy.Dir); h.tools != nil {
		p.Tools = h.tools.Tools
	}
	return h
}

// faulty reports whether the latest look at the machine found a fault. As long as it lasts, each look would do all
// this in vain.
func (r *round) faulty() bool {
	scan, err := r.Store.Scan()
	return err != nil || scan.Fault != nil
}

// drop ends and removes what was not taken.
func (h ahead) drop() {
	if h.tools != nil {
		h.tools.Drop()
	}
	if h.copy != nil {
		h.copy.Drop()
	}
}
