package llm

import (
	"slices"
	"sync"
)

// Orders keeps turns in the order that profiles want, of requests that name their thread.
// Its zero value is ready.
type Orders struct {
	mu   sync.Mutex
	list []*ordered // the latest first
}

// Of is [Profile.Messages] of the request, which must not be changed, and the thread of
// that; nil if the request has none.
func (o *Orders) Of(p Profile, r Request) ([]Message, *Thread) {
	if r.Thread == nil {
		return p.Messages(r.Messages), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.list, func(k *ordered) bool {
		return k.in == r.Thread && k.roles == p.Roles && k.shortIDs == p.ShortIDs && k.grouped <= len(r.Messages)
	})
	k := &ordered{in: r.Thread, roles: p.Roles, shortIDs: p.ShortIDs, thread: new(Thread)}
	if i >= 0 {
		k = o.list[i]
		o.list = slices.Delete(o.list, i, i+1)
	}
	o.list = slices.Insert(o.list[:min(len(o.list), mostKept-1)], 0, k)
	return k.extend(r.Messages), k.thread
}

// ordered is a conversation in one order. The latest group of turns may get more results,
// and what was made of it may become something else: so it is ordered again.
type ordered struct {
	in       *Thread
	roles    Roles
	shortIDs bool

	grouped int       // where the latest group begins in the turns of in
	before  []Message // the last turn as it was before that group, if there was one
	begin   int       // where in turns that one stands, or what was made of the group
	turns   []Message
	thread  *Thread // of turns
}

func (k *ordered) extend(in []Message) []Message {
	o := order{k.roles, k.shortIDs, slices.Clone(k.before)}
	from, begin := k.grouped, k.begin
	for group := range groups(in[from:]) {
		last := max(len(o.out)-1, 0)
		k.before, k.begin = slices.Clone(o.out[last:]), begin+last
		o.add(group)
		k.grouped, from = from, from+len(group)
	}
	n := 0
	for kept := k.turns[begin:]; n < min(len(kept), len(o.out)) && kept[n].same(&o.out[n]); {
		n++
	}
	if begin+n < len(k.turns) { // what was given away stays as it is
		k.turns, k.thread = slices.Clip(k.turns[:begin+n]), new(Thread)
	}
	k.turns = append(k.turns, o.out[n:]...)
	return slices.Clip(k.turns)
}
