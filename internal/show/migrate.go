package show

import (
	"agent/contexts"
	"agent/internal/sanitize"
)

// Imported prints what came into a cluster.
func (p *Printer) Imported(r contexts.Imported) {
	p.say("cluster.imported", r.Contexts, r.Known)
	p.skipped(r.Skipped)
}

// Exported prints what was written to a directory.
func (p *Printer) Exported(r contexts.Exported, dir string) {
	p.say("cluster.exported", r.Contexts, sanitize.Line(dir, 1000))
	p.skipped(r.Skipped)
}

func (p *Printer) skipped(all []contexts.SkippedContext) {
	for _, l := range all {
		p.say("cluster.skipped", l.UUID, sanitize.Line(l.Reason, 1000))
	}
}
