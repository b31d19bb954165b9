package llm

import (
	"crypto/sha256"
	"iter"
	"slices"
	"strings"
)

// Lines that an adapter puts between turns where a server wants one there.
const (
	bridgeLine = "I have read the results."
	leadLine   = "This is where the work stands."
)

// Messages are the turns in the order that the profile wants. It is pure, and adds
// at the end only: a longer conversation gives the same beginning.
func (p Profile) Messages(in []Message) []Message {
	o := order{p.Roles, p.ShortIDs, make([]Message, 0, len(in))}
	for group := range groups(in) {
		o.add(group)
	}
	return o.out
}

// order adds turns at the end of out, where the latest one may become another.
type order struct {
	roles    Roles
	shortIDs bool
	out      []Message
}

// groups are the turns with the results that follow them.
func groups(in []Message) iter.Seq[[]Message] {
	return func(yield func([]Message) bool) {
		for len(in) > 0 {
			n := 1
			for n < len(in) && in[n].Role == ToolRole {
				n++
			}
			if !yield(in[:n]) {
				return
			}
			in = in[n:]
		}
	}
}

func (o *order) add(group []Message) {
	if o.roles.Single && len(group[0].Calls) > 1 {
		group = apart(group[0], group[1:])
	}
	for _, m := range group {
		o.turn(m)
	}
}

func (o *order) turn(m Message) {
	last := Message{Role: System}
	if len(o.out) > 0 {
		last = o.out[len(o.out)-1]
	}
	if m.Role == System && last.Role != System {
		m.Role = User // a system's word counts at the beginning only
	}
	mapIDs(&m, o.shortIDs)
	switch {
	case o.roles.Lead && m.Role == Assistant && last.Role == System:
		o.out = append(o.out, Message{Role: User, Content: leadLine})
	case o.roles.Bridge && m.Role == User && last.Role == ToolRole:
		o.out = append(o.out, Message{Role: Assistant, Content: bridgeLine})
	case m.Role == last.Role && len(o.out) > 0 && o.roles.joins(last, m):
		o.out[len(o.out)-1] = joined(last, m)
		return
	}
	o.out = append(o.out, m)
}

func (r Roles) joins(a, b Message) bool {
	return b.Role == System || r.Join && b.Role != ToolRole && len(a.Calls) == 0
}

// joined takes nothing away from a, which was sent alone before b was there.
func joined(a, b Message) Message {
	switch {
	case b.Content == "":
		b.Content = a.Content
	case a.Content != "":
		b.Content = a.Content + "\n\n" + b.Content
	}
	return b
}

// apart gives each call of a turn a turn of its own, followed by its result.
func apart(m Message, results []Message) (out []Message) {
	for _, c := range m.Calls {
		one := m
		one.Calls = []ToolCall{c}
		out = append(out, one)
		for _, result := range results {
			if result.CallID == c.ID {
				out = append(out, result)
			}
		}
		m.Content = ""
	}
	return out
}

const (
	shortID = 9
	longID  = 40 // the least that a server names as its limit
	letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// mapIDs gives calls ids that the server takes, the same for the same one always:
// those of another server may be longer, or hold other characters.
func mapIDs(m *Message, short bool) {
	fit := func(id string) string {
		if short || len(id) > longID || !only(id, "_-") {
			return ShortID(id)
		}
		return id
	}
	if m.CallID != "" {
		m.CallID = fit(m.CallID)
	}
	if !slices.ContainsFunc(m.Calls, func(c ToolCall) bool { return fit(c.ID) != c.ID }) {
		return
	}
	m.Calls = slices.Clone(m.Calls)
	for n := range m.Calls {
		m.Calls[n].ID = fit(m.Calls[n].ID)
	}
}

// ShortID is the id of nine letters or digits that stands for id; one that is so already stays.
func ShortID(id string) string {
	if len(id) == shortID && only(id, "") {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	out := make([]byte, shortID)
	for i := range out {
		out[i] = letters[int(sum[i])%len(letters)]
	}
	return string(out)
}

// only tells whether id consists of letters, digits, and bytes of others.
func only(id, others string) bool {
	for i := range len(id) {
		c := id[i]
		if lower := c | 0x20; (c < '0' || c > '9') && (lower < 'a' || lower > 'z') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}
