package llm

import (
	"crypto/sha256"
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
	out := make([]Message, 0, len(in))
	r := p.Roles
	for _, m := range singleCalls(in, r.Single) {
		if m.Role == System && len(out) > 0 && out[len(out)-1].Role != System {
			m.Role = User // a system's word counts at the beginning only
		}
		last := System
		if len(out) > 0 {
			last = out[len(out)-1].Role
		}
		switch {
		case r.Lead && m.Role == Assistant && last == System:
			out = append(out, Message{Role: User, Content: leadLine})
		case r.Bridge && m.Role == User && last == ToolRole:
			out = append(out, Message{Role: Assistant, Content: bridgeLine})
		case m.Role == last && len(out) > 0 && p.joins(out[len(out)-1], m):
			out[len(out)-1] = joined(out[len(out)-1], m)
			continue
		}
		out = append(out, m)
	}
	mapIDs(out, p.ShortIDs)
	return out
}

func (p Profile) joins(a, b Message) bool {
	return b.Role == System || p.Roles.Join && b.Role != ToolRole && len(a.Calls) == 0
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

// singleCalls gives each call of a turn a turn of its own, followed by its result.
func singleCalls(in []Message, wanted bool) []Message {
	if !wanted {
		return in
	}
	var out []Message
	for i := 0; i < len(in); i++ {
		m := in[i]
		if len(m.Calls) < 2 {
			out = append(out, m)
			continue
		}
		end := i + 1
		for end < len(in) && in[end].Role == ToolRole {
			end++
		}
		out = append(out, apart(m, in[i+1:end])...)
		i = end - 1
	}
	return out
}

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
func mapIDs(messages []Message, short bool) {
	fit := func(id string) string {
		if short || len(id) > longID || !only(id, "_-") {
			return ShortID(id)
		}
		return id
	}
	for i := range messages {
		m := &messages[i]
		if m.CallID != "" {
			m.CallID = fit(m.CallID)
		}
		if !slices.ContainsFunc(m.Calls, func(c ToolCall) bool { return fit(c.ID) != c.ID }) {
			continue
		}
		m.Calls = slices.Clone(m.Calls)
		for n := range m.Calls {
			m.Calls[n].ID = fit(m.Calls[n].ID)
		}
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
