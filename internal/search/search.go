// Package search finds text in the logs of all contexts, archived ones too. A log
// is searched as raw bytes; only lines with a possible match are parsed.
package search

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"agent/contexts"
	"agent/eventlog"
	"agent/forge"
)

// Options narrow a search.
type Options struct {
	Regexp       bool     // the text is a regular expression (RE2)
	Types        []string // event types or groups of them: "tool.replied", "tool"
	Since, Until string   // 2026-11-27, a time in RFC 3339, or an age such as 36h or 7d
}

// Hit is one event with the text, as `search --json` prints it.
type Hit struct {
	UUID    string    `json:"uuid"`
	TaskKey string    `json:"task_key"`
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Excerpt string    `json:"excerpt"`
}

// Contexts gives the contexts to search: all, those of a task (a URL or key with
// one of hosts), or one by its uuid or a unique prefix of it.
func (m *Matcher) Contexts(store *contexts.Store, task string, hosts []string) (iter.Seq2[contexts.Info, error], error) {
	q := contexts.Query{Since: m.since}
	if task == "" {
		return store.Infos(q), nil
	}
	if key, err := forge.ParseTaskKey(task, hosts...); err == nil {
		q.TaskKey = key.String()
		return store.Infos(q), nil
	}
	uuid, err := store.Find(task)
	if err != nil {
		return nil, err
	}
	return func(yield func(contexts.Info, error) bool) { yield(store.Info(uuid)) }, nil
}

// In searches one log. Of a damaged one, everything readable is searched, and the
// damage is the error.
func (m *Matcher) In(store *contexts.Store, info contexts.Info, visit func(Hit) error) error {
	log, err := store.StreamOf(&info)
	if err != nil {
		return err
	}
	defer log.Close()
	err = m.scan(log, func(rec eventlog.Record, from, to int) error {
		return visit(Hit{info.UUID, info.Address(), rec.Seq, rec.When(), string(rec.Type), around(rec.Data, from, to)})
	})
	if archive, ok := log.(interface{ Lost() int }); ok && archive.Lost() > 0 {
		err = errors.Join(err, &contexts.DamageError{Name: info.UUID, Reason: fmt.Sprintf("%d parts of its archive cannot be read", archive.Lost())})
	}
	return err
}

// readable takes back the escapes of JSON that only make an excerpt longer.
var readable = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, "", `\"`, `"`, `\\`, `\`)

// around is the hit with some text before and behind it.
func around(data []byte, from, to int) string {
	const before, behind = 60, 120
	to = min(to, from+behind)
	start, end := max(from-before, 0), min(to+behind, len(data))
	for start > 0 && start < from && !utf8.RuneStart(data[start]) {
		start++
	}
	for end < len(data) && !utf8.RuneStart(data[end]) {
		end--
	}
	return readable.Replace(string(data[start:end]))
}
