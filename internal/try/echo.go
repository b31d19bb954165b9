package try

import (
	"context"
	"maps"
	"strings"
	"sync"

	"agent/forge"
	"agent/internal/lazyregexp"
	"agent/internal/report"
)

// echo shows what the agent writes on its task. Of a comment that is edited, as that
// on progress, it shows the lines that are new.
type echo struct {
	forge.Client
	show func(string)
	uuid func() string // of the context
	user string        // who started the try, and reads this

	mu   sync.Mutex
	said map[string]map[string]bool // lines, by the comment's id
}

func (e *echo) PostComment(ctx context.Context, key forge.TaskKey, body string) (forge.Comment, error) {
	c, err := e.Client.PostComment(ctx, key, body)
	if err == nil {
		e.print(c.ID, body)
	}
	return c, err
}

func (e *echo) EditComment(ctx context.Context, key forge.TaskKey, id, body string) (forge.Comment, error) {
	c, err := e.Client.EditComment(ctx, key, id, body)
	if err == nil {
		e.print(id, body)
	}
	return c, err
}

func (e *echo) print(id, body string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, now := e.said[id], map[string]bool{}
	body = strings.ReplaceAll(plain(report.InTry(body, e.uuid())), "** @"+e.user+"\n", "**\n")
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" && !before[line] {
			e.show(line)
		}
		now[line] = true
	}
	maps.Copy(now, before)
	e.said[id] = now
}

var (
	marker  = lazyregexp.New(`(?s)<!--.*?-->`)
	patches = lazyregexp.New("(?s)<details>[^\n]*\n+`{3,}diff\n.*?\n`{3,}\n+</details>")
	folds   = lazyregexp.New(`</?(details|summary)>`)
)

// plain is a comment for a terminal: without what a browser hides or folds, and
// without the patch, which comes later.
func plain(body string) string {
	body = patches.ReplaceAllString(body, "")
	body = marker.ReplaceAllString(body, "")
	return strings.TrimSpace(folds.ReplaceAllString(body, ""))
}
