package projections

import (
	"slices"

	"agent/eventlog/event"
)

// OpenNeed is the first information that is neither collected nor assumed nor
// given up, in the planned order. It is nil if there is none.
func (p *Planning) OpenNeed() *event.Need {
	if p.Needs == nil || p.Needs.Skip {
		return nil
	}
	for _, n := range inOrder(p.Needs) {
		if status := p.FoundFor(n).Status; status == "" || status == "failed" {
			return n
		}
	}
	return nil
}

// FoundFor is what is known about a need so far.
func (p *Planning) FoundFor(n *event.Need) Found {
	if f := p.Found[n.ID]; f != nil {
		return *f
	}
	return Found{}
}

// inOrder puts needs that the order does not name last.
func inOrder(needs *event.Needs) []*event.Need {
	var out []*event.Need
	for i := range needs.Required {
		out = append(out, &needs.Required[i])
	}
	rank := func(n *event.Need) int {
		if i := slices.Index(needs.Order, n.ID); i >= 0 {
			return i
		}
		return len(needs.Order)
	}
	slices.SortStableFunc(out, func(a, b *event.Need) int { return rank(a) - rank(b) })
	return out
}
