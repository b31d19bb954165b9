package projections

import (
	"slices"

	"agent/eventlog/event"
	"agent/llm"
)

// Shown is the conversation as a model sees it. Its slices must not be changed.
type Shown struct {
	Messages []llm.Message
	Weights  []llm.Weight // of the messages, in their order
	Thread   *llm.Thread  // of the messages
}

// shown keeps what was rendered of the entries so far, and for whom: entries are added at
// the end. Whatever else happens to them makes it empty.
type shown struct {
	protocol string
	most     int
	from     string // of the conversation
	Shown
}

// Shown renders the conversation for a protocol ("json" or "tools"). What
// others wrote is shown by its head and tail where it is longer than its share of
// most bytes.
func (c *Conversation) Shown(protocol string, most int) Shown {
	k := &c.shown
	if k.Thread == nil || k.protocol != protocol || k.most != most || k.from != c.from {
		*k = shown{protocol, most, c.from, Shown{Messages: []llm.Message{}, Thread: new(llm.Thread)}}
	}
	for _, e := range c.Entries[len(k.Messages):] {
		k.Weights = append(k.Weights, e.weightShown(most, c.from))
		k.Messages = append(k.Messages, e.shortened(most).Message(protocol))
	}
	return Shown{slices.Clip(k.Messages), slices.Clip(k.Weights), k.Thread}
}

func (e Entry) shortened(most int) Entry {
	if share := e.share(most); share > 0 && e.Role == llm.ToolRole {
		e.Text = shortenResult(e.Text, share)
	} else if share > 0 {
		e.Text = event.Shorten(e.Text, share)
	}
	return e
}

// weightShown is the weight of the shortened entry. What is opaque counts for the server
// that it is from: no other gets it.
func (e Entry) weightShown(most int, from string) llm.Weight {
	w := e.Weight
	if n, share := len(e.Text), e.share(most); share > 0 && n > share {
		w = llm.Weight{Estimate: w.Estimate * share / n, Floor: w.Floor * share / n}
	}
	if e.Opaque != nil && e.Opaque.From == from {
		w.Estimate += e.Reasoning * llm.PerToken
	}
	return w
}
