package page

import "slices"

// Only leaves of a page the row of some events, with what was said in them; of a model call
// also what the model was told since it answered before.
func (d *Doc) Only(first, last uint64) {
	d.Charts, d.Failures, d.Marks, d.Changes, d.Plans = nil, nil, nil, nil, nil
	d.Because, d.Waits, d.Events = "", "", ""
	d.Single, d.AllOpen, d.First, d.Earlier, d.Live = true, true, 0, 0, false
	model := false
	for i := range d.Phases {
		p := &d.Phases[i]
		for j := range p.Steps {
			s := &p.Steps[j]
			s.Open = true
			s.Rows = slices.DeleteFunc(s.Rows, func(r Row) bool { return r.Seq < first || r.Seq > last })
			model = model || slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Kind == "model" && r.Purpose == "" })
		}
		p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool { return len(s.Rows) == 0 })
	}
	d.Phases = slices.DeleteFunc(d.Phases, func(p Phase) bool { return len(p.Steps) == 0 })
	since := first
	if model {
		since = 0
		for _, m := range d.Talk {
			if m.Role == "assistant" && m.Seq < first {
				since = m.Seq + 1
			}
		}
	}
	d.Talk = slices.DeleteFunc(d.Talk, func(m Talk) bool { return m.Seq < since || m.Seq > last })
	d.Comments = slices.DeleteFunc(d.Comments, func(c Comment) bool { return c.Seq < first || c.Seq > last })
}
