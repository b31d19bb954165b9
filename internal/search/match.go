package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"agent/contexts"
	"agent/eventlog"
	"agent/eventlog/event"
)

// Matcher finds lines quickly: raw bytes first, and only the lines with a hit are read.
type Matcher struct {
	needles      []needle // any of them; nil: every line is a candidate
	re           *regexp.Regexp
	types        []string
	since, until time.Time
	buf          []byte // for all logs
	tuned        bool
}

// New compiles a search. Its errors are mistakes in the options.
func New(text string, o Options, now time.Time) (m *Matcher, err error) {
	if text == "" {
		return nil, errors.New("the text to search for is empty")
	}
	if err := CheckTypes(o.Types); err != nil {
		return nil, err
	}
	m = &Matcher{types: o.Types}
	if m.since, err = ParseMoment(o.Since, now); err != nil {
		return nil, err
	}
	if m.until, err = ParseMoment(o.Until, now); err != nil {
		return nil, err
	}
	if o.Regexp {
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

// escaped is a text as a log has it.
func escaped(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string cannot fail
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// OfType reports whether an event's type is the one asked for, is of that group, or
// fits that pattern: tool.replied, tool, *.failed.
func OfType(kind, asked string) bool {
	fits, _ := path.Match(asked, kind)
	return fits || strings.HasPrefix(kind, strings.TrimSuffix(asked, ".")+".")
}

// CheckTypes refuses types that no event can have.
func CheckTypes(asked []string) error {
	for _, t := range asked {
		if slices.ContainsFunc(event.Types(), func(kind string) bool { return OfType(kind, t) }) {
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

// scan calls hit for every record that fits, with where the text is in its
// data. Its memory does not grow with the log.
func (m *Matcher) scan(log io.Reader, hit func(rec eventlog.Record, from, to int) error) error {
	filled := 0
	var damage error
	for {
		if filled == len(m.buf) {
			m.buf = append(m.buf, make([]byte, max(len(m.buf), firstBuffer))...)
		}
		n, err := log.Read(m.buf[filled:])
		filled += n
		m.tune(m.buf[:filled])
		end := bytes.LastIndexByte(m.buf[:filled], '\n') + 1
		if hitErr := m.lines(m.buf[:end], hit, &damage); hitErr != nil {
			return hitErr
		}
		filled = copy(m.buf, m.buf[end:filled])
		if filled >= eventlog.MaxLine {
			damage, filled = errors.Join(damage, &eventlog.DamageError{Reason: "a line is longer than allowed"}), 0
		}
		if errors.Is(err, io.EOF) {
			return damage
		}
		if err != nil {
			return err
		}
	}
}

// tune fits the needles to the first log that is long enough; others are like it.
func (m *Matcher) tune(log []byte) {
	if m.tuned {
		return
	}
	m.tuned = len(log) >= 16<<10
	for i := range m.needles {
		m.needles[i].tune(log)
	}
}

// firstBuffer is what most logs fit into.
const firstBuffer = 256 << 10

func (m *Matcher) lines(region []byte, hit func(eventlog.Record, int, int) error, damage *error) error {
	for len(region) > 0 {
		at := m.candidate(region)
		if at < 0 {
			return nil
		}
		start := bytes.LastIndexByte(region[:at], '\n') + 1
		end := at + bytes.IndexByte(region[at:], '\n')
		rec, err := eventlog.Parse(region[start:end])
		if err != nil {
			*damage = errors.Join(*damage, &contexts.DamageError{Name: "a line", Reason: err.Error()})
		} else if from, to := m.find(rec); from >= 0 {
			if err := hit(rec, from, to); err != nil {
				return err
			}
		}
		region = region[end+1:]
	}
	return nil
}

// candidate finds the first offset at which a match may be.
func (m *Matcher) candidate(region []byte) int {
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

// find looks into the data of a record that the filters let through.
func (m *Matcher) find(rec eventlog.Record) (from, to int) {
	if len(m.types) > 0 && !slices.ContainsFunc(m.types, func(t string) bool {
		return OfType(string(rec.Type), t)
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
