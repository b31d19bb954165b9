package rounds

import (
	"context"
	"slices"
	"strings"
	"time"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/policy"
	"agent/internal/webhook"
)

// hookWake is a channel that never tells anything where no hooks are listened for.
func (s *Rounds) hookWake() <-chan struct{} {
	if s.Hooks == nil {
		return nil
	}
	return s.Hooks.Wake()
}

// dueToList reports whether all labelled items are to be listed now. Where hooks tell of
// them that is done less often.
func (r *round) dueToList() bool {
	least := time.Duration(0)
	if r.Config.Webhooks.Listen != "" {
		least = time.Duration(r.Config.Webhooks.IntervalSeconds) * time.Second
	} else if r.Cluster != nil {
		least = r.every // what else wakes a worker is no reason to ask a forge
	}
	if time.Since(r.allListed) < least {
		return false
	}
	r.allListed = time.Now()
	return true
}

// lookAt looks at the items that hooks told of, as a look at everything would.
func (r *round) lookAt(ctx context.Context, items []webhook.Item, jobs chan<- job) {
	for _, i := range items {
		if ctx.Err() == nil {
			r.lookAtItem(ctx, i, jobs)
		}
		r.inFlight.Add(-1)
	}
}

func (r *round) lookAtItem(ctx context.Context, i webhook.Item, jobs chan<- job) {
	at, ok := r.Site(i.Key.Host)
	if !ok {
		return
	}
	uuid, live, err := r.Store.Active(i.Key.String())
	if err != nil {
		r.trouble(i.Key.String(), err)
		return
	}
	labelled := job{key: i.Key, at: at, trigger: policy.ByLabel, told: true}
	switch {
	case !live && i.Comment && !carriesAny(i, at.Config.Triggers()):
		r.send(ctx, jobs, job{key: i.Key, at: at, trigger: policy.ByComment, told: true})
	case !live && i.Labels != nil && !carriesAny(i, at.Config.Triggers()):
		r.Hooks.Spare(i.Key)
	case !live:
		r.send(ctx, jobs, labelled)
	case r.afterJob(uuid, i):
		// what is worked on reads its item by itself, but what has just ended does not
	case r.busyElsewhere(uuid):
		r.Hooks.Add(i) // until it is free: what another process has read already nobody knows
	case r.waitsIn(uuid) && !r.due(ctx, job{uuid: uuid, told: true}, r.note(uuid)):
		r.send(ctx, jobs, labelled) // the label may have been set again
	default:
		r.send(ctx, jobs, job{uuid: uuid, told: true})
	}
}

// afterJob leaves an item to the end of the job that works on its context. It is false if none does.
func (r *round) afterJob(uuid string, i webhook.Item) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := forge.FoldKey(uuid)
	if !r.taken[name] {
		return false
	}
	r.after[name] = i
	return true
}

// busyElsewhere reports whether another process works on a context, after [round.afterJob] said that none of ours does.
func (r *round) busyElsewhere(uuid string) bool {
	locked, err := r.Store.Locked(uuid)
	return err == nil && locked
}

// waitsIn reports whether a context lies among the paused ones.
func (r *round) waitsIn(uuid string) bool {
	for entry, err := range r.Store.Unfinished() {
		if err == nil && entry.UUID == uuid {
			return entry.Dir == contexts.Paused
		}
	}
	return false
}

// carriesAny reports whether a delivery says that its item carries one of the labels.
func carriesAny(i webhook.Item, labels []string) bool {
	return slices.ContainsFunc(labels, func(label string) bool {
		return slices.ContainsFunc(i.Labels, func(has string) bool { return strings.EqualFold(has, label) })
	})
}
