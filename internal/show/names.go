package show

import (
	"strings"

	"agent/internal/i18n"
	"agent/internal/sanitize"
)

// mostNames bounds how many paths are named.
const mostNames = 20

// Names says something of the first of some paths.
func (p *Printer) Names(id i18n.ID, paths []string) {
	if len(paths) == 0 {
		return
	}
	shown := make([]string, 0, mostNames)
	for _, path := range paths[:min(len(paths), mostNames)] {
		shown = append(shown, sanitize.Line(path, 300))
	}
	if more := len(paths) - mostNames; more > 0 {
		shown = append(shown, p.text("restore.more", more))
	}
	p.say(id, strings.Join(shown, ", "))
}
