package show

import (
	"fmt"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/sanitize"
)

// Planned prints what gc would do to one context or cache.
func (p *Printer) Planned(c contexts.Planned) {
	if c.UUID == "" && c.Action == "remove_image" {
		p.say("gc.plan.image", sanitize.Line(c.TaskKey, 200), Bytes(c.Bytes))
		return
	}
	if c.UUID == "" {
		p.say("gc.plan.cache", sanitize.Line(c.TaskKey, 200), Bytes(c.Bytes))
		return
	}
	p.say(i18n.OrOther("gc.plan.", c.Action), c.UUID, sanitize.Line(c.TaskKey, 200), Bytes(c.Bytes))
}

// Collected prints what gc did, or would do.
func (p *Printer) Collected(c contexts.Collected) {
	did := func(id i18n.ID) i18n.ID {
		if c.DryRun {
			return "gc.would." + id
		}
		return "gc.did." + id
	}
	if c.DryRun {
		p.say("gc.would.archive", c.Archived, Bytes(c.ArchivedFrom))
	} else {
		p.say("gc.did.archive", c.Archived, Bytes(c.ArchivedFrom), Bytes(c.ArchivedTo))
	}
	p.say(did("remove"), c.Removed, Bytes(c.RemovedBytes))
	p.say(did("clones"), c.Clones, Bytes(c.CloneBytes))
	if c.Caches > 0 {
		p.say(did("caches"), c.Caches, Bytes(c.CacheBytes))
	}
	if c.Images > 0 {
		p.say(did("images"), c.Images, Bytes(c.ImageBytes))
	}
	p.say(did("locks"), c.Locks)
	if c.Rebuilt > 0 {
		p.say(did("rebuild"), c.Rebuilt)
	}
	if c.Inheritable > 0 {
		p.say("gc.kept", c.Inheritable)
	}
	if c.Busy > 0 {
		p.say("gc.busy", c.Busy)
	}
	for _, problem := range c.ProblemsNamed {
		p.say("gc.left", sanitize.Line(problem, 500))
	}
	if more := c.Problems - len(c.ProblemsNamed); more > 0 {
		p.say("gc.more", more)
	}
}

// Bytes shows a number of bytes in the largest unit that fits.
func Bytes(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
