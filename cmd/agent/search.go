package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
	"agent/forge"
	"agent/internal/config"
	"agent/internal/sanitize"
)

// searchLine is one hit, as `search --json` prints it.
type searchLine struct {
	UUID    string    `json:"uuid"`
	TaskKey string    `json:"task_key"`
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Excerpt string    `json:"excerpt"`
}

func (a *cli) searchCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use: "search TEXT", Short: "Find a text in all logs, archived ones too", Args: cobra.ExactArgs(1),
		Long: `search prints a line for each event that holds the text: the beginning of the context's
uuid, the event's number, time and type, and what stands around the text. With --regexp
the text is a regular expression (RE2), matched against the event's data as it is stored:
JSON, with "\n" for the end of a line.`,
		Example: `  agent search 'connection refused'
  agent search --type tool --since 7d 'exit status 1'
  agent search --regexp '(?i)todo|fixme' --task https://github.com/owner/repo/issues/12
  agent search --json token | jq -r .uuid | sort -u`,
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.look(config.Offline())
			if err != nil {
				return err
			}
			return l.search(args[0], o)
		},
	}
	cmd.Flags().BoolVar(&o.regexp, "regexp", false, "the text is a regular expression")
	cmd.Flags().StringVar(&o.task, "task", "", "only in this task (URL) or context")
	cmd.Flags().StringArrayVar(&o.types, "type", nil, "only in events of this type, such as tool.replied or tool; may be repeated")
	completeFlag(cmd, "type", event.Types())
	cmd.Flags().StringVar(&o.since, "since", "", "only events since then: 2026-11-27, a time in RFC 3339, or an age such as 36h or 7d")
	cmd.Flags().StringVar(&o.until, "until", "", "only events until then, in the same forms")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object a line")
	return cmd
}

type searchOptions struct {
	regexp, asJSON     bool
	task, since, until string
	types              []string
}

func (l *looker) search(text string, o searchOptions) error {
	m, err := newMatcher(text, o, l.now)
	if err != nil {
		return usageError{err}
	}
	list, err := l.searched(o.task, m.since)
	if err != nil {
		return err
	}
	code := 0
	for info, err := range list {
		if err != nil {
			return err
		}
		if err := cmp.Or(l.searchIn(info, m, o.asJSON), info.Err); err != nil {
			fmt.Fprintf(l.err, "agent: %s: %s\n", info.UUID, sanitize.Terminal(err.Error()))
			code = worse(code, exitCode(err))
		}
	}
	return quietly(code)
}

// searched are the contexts to look into.
func (l *looker) searched(task string, since time.Time) (func(func(contexts.Info, error) bool), error) {
	q := contexts.Query{Since: since}
	if task == "" {
		return l.store.Infos(q), nil
	}
	if key, err := forge.ParseTaskKey(task, l.hosts...); err == nil {
		q.TaskKey = key.String()
		return l.store.Infos(q), nil
	}
	uuid, err := l.store.Find(task)
	if err != nil {
		return nil, err
	}
	return func(yield func(contexts.Info, error) bool) { yield(l.store.Info(uuid)) }, nil
}

// searchIn looks through one log. Of a damaged one what can be read is searched.
func (l *looker) searchIn(info contexts.Info, m *matcher, asJSON bool) error {
	log, err := l.store.StreamOf(&info)
	if err != nil {
		return err
	}
	defer log.Close()
	err = m.scan(log, func(rec eventlog.Record, from, to int) error {
		hit := searchLine{info.UUID, info.TaskKey, rec.Seq, rec.When(), string(rec.Type), around(rec.Data, from, to)}
		if asJSON {
			data, err := json.Marshal(hit)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(l.out, plainJSON(data))
			return err
		}
		_, err := fmt.Fprintf(l.out, "%s %5d  %s  %-19s %s\n", hit.UUID[:8], hit.Seq, local(hit.Time), hit.Type, sanitize.Line(hit.Excerpt, 200))
		return err
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

// matcher finds lines quickly: raw bytes first, and only the lines with a hit are read.
type matcher struct {
	needles      []needle // any of them; nil: every line is a candidate
	re           *regexp.Regexp
	types        []string
	since, until time.Time
	buf          []byte // for all logs
}

func newMatcher(text string, o searchOptions, now time.Time) (m *matcher, err error) {
	if text == "" {
		return nil, errors.New("say what to search for")
	}
	if err := checkTypes(o.types); err != nil {
		return nil, err
	}
	m = &matcher{types: o.types}
	if m.since, err = moment(o.since, now); err != nil {
		return nil, err
	}
	if m.until, err = moment(o.until, now); err != nil {
		return nil, err
	}
	if o.regexp {
		if m.re, err = regexp.Compile(text); err != nil {
			return nil, err
		}
		if prefix, _ := m.re.LiteralPrefix(); prefix != "" {
			m.needles = []needle{newNeedle(prefix)}
		}
		return m, nil
	}
	m.needles = []needle{newNeedle(text)}
	if stored := escaped(text); stored != text {
		m.needles = append(m.needles, newNeedle(stored))
	}
	return m, nil
}

// escaped is a text as it stands in a log.
func escaped(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string cannot fail
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// moment reads a date, a time, or an age.
func moment(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	unit := time.Duration(1)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		s, unit = days+"h", 24
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d * unit), nil
	}
	return time.Time{}, fmt.Errorf("%q is no date (2026-11-27), time (RFC 3339) or age (36h, 7d)", s)
}

// scan calls hit for every record that fits, with the place of the text in its
// data. Its memory does not grow with the log.
func (m *matcher) scan(log io.Reader, hit func(rec eventlog.Record, from, to int) error) error {
	held := 0
	var damage error
	for {
		if held == len(m.buf) {
			m.buf = append(m.buf, make([]byte, max(len(m.buf), firstBuffer))...)
		}
		n, err := log.Read(m.buf[held:])
		held += n
		end := bytes.LastIndexByte(m.buf[:held], '\n') + 1
		if hitErr := m.lines(m.buf[:end], hit, &damage); hitErr != nil {
			return hitErr
		}
		held = copy(m.buf, m.buf[end:held])
		if held >= eventlog.MaxLine {
			damage, held = errors.Join(damage, &eventlog.DamageError{Reason: "a line is longer than allowed"}), 0
		}
		if errors.Is(err, io.EOF) {
			return damage
		}
		if err != nil {
			return err
		}
	}
}

// firstBuffer is what most logs fit into.
const firstBuffer = 256 << 10

func (m *matcher) lines(region []byte, hit func(eventlog.Record, int, int) error, damage *error) error {
	for len(region) > 0 {
		at := m.candidate(region)
		if at < 0 {
			return nil
		}
		start := bytes.LastIndexByte(region[:at], '\n') + 1
		end := at + bytes.IndexByte(region[at:], '\n')
		rec, err := eventlog.Parse(region[start:end])
		if err != nil {
			*damage = errors.Join(*damage, err)
		} else if from, to := m.find(rec); from >= 0 {
			if err := hit(rec, from, to); err != nil {
				return err
			}
		}
		region = region[end+1:]
	}
	return nil
}

// candidate finds the first place where something may be.
func (m *matcher) candidate(region []byte) int {
	first := -1
	if m.needles == nil {
		return 0
	}
	for _, n := range m.needles {
		if at := n.in(region); at >= 0 {
			first = at // before what was found so far
			region = region[:min(at+len(n.text), len(region))]
		}
	}
	return first
}

// ofType tells whether an event's type is the one that was asked for, or of that group.
func ofType(kind, asked string) bool {
	return kind == asked || strings.HasPrefix(kind, strings.TrimSuffix(asked, ".")+".")
}

// checkTypes refuses types that no event can have.
func checkTypes(asked []string) error {
	for _, t := range asked {
		if slices.ContainsFunc(event.Types(), func(kind string) bool { return ofType(kind, t) }) {
			continue
		}
		var groups []string
		for _, kind := range event.Types() {
			group, _, _ := strings.Cut(kind, ".")
			groups = append(groups, group)
		}
		return fmt.Errorf("no event is of type %q; there are %s, and each with a dot and a word, such as tool.replied", t, strings.Join(slices.Compact(groups), " "))
	}
	return nil
}

// find looks into the data of a record that the filters let through.
func (m *matcher) find(rec eventlog.Record) (from, to int) {
	if len(m.types) > 0 && !slices.ContainsFunc(m.types, func(t string) bool {
		return ofType(string(rec.Type), t)
	}) {
		return -1, -1
	}
	if t := rec.When(); !m.since.IsZero() && t.Before(m.since) || !m.until.IsZero() && t.After(m.until) {
		return -1, -1
	}
	if m.re != nil {
		if at := m.re.FindIndex(rec.Data); at != nil {
			return at[0], at[1]
		}
		return -1, -1
	}
	for _, n := range m.needles {
		if at := n.in(rec.Data); at >= 0 {
			return at, at + len(n.text)
		}
	}
	return -1, -1
}
