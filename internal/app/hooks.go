package app

import (
	"context"
	"errors"
	"slices"

	"agent/forge"
	"agent/internal/i18n"
	"agent/internal/webhook"
)

// ListenForHooks listens for the hooks of the forges until the app is closed. The queue is
// nil if none are to come.
func (a *App) ListenForHooks() (*webhook.Queue, error) {
	w := a.Config.Webhooks
	if w.Listen == "" {
		return nil, nil
	}
	q := webhook.NewQueue()
	s, err := webhook.Listen(webhook.Options{Listen: w.Listen, Secret: w.Secret, CertFile: w.CertFile, KeyFile: w.KeyFile, Kinds: a.hookKinds(), Log: a.Log,
		Found: func(kind *forge.Hook, item forge.HookItem) {
			for _, key := range a.hooked(kind, item) {
				a.hookedItem(q, webhook.Item{Key: key, Labels: item.Labels, Comment: item.Comment})
			}
		}})
	if err != nil {
		return nil, &ListenError{errors.New(i18n.Text(a.Language(), "webhooks.listen", err))}
	}
	a.Log.Info("listening for webhooks", "address", s.Address())
	a.closers = append(a.closers, closer(s.Close))
	return q, nil
}

// hookedItem queues an item, in a cluster where every worker may take it.
func (a *App) hookedItem(q *webhook.Queue, i webhook.Item) {
	if a.Cluster == nil {
		q.Add(i)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), syncTime)
	defer cancel()
	if err := Offer(ctx, a.Cluster, i, 1); err != nil {
		a.Log.Warn("a hook is not heard by the cluster, but here", "error", err)
		q.Add(i)
	}
}

// ListenError means that hooks cannot be listened for. That is a matter of configuration.
type ListenError struct{ Err error }

func (e *ListenError) Error() string { return e.Err.Error() }
func (e *ListenError) Unwrap() error { return e.Err }

type closer func()

func (c closer) Close() error { c(); return nil }

func (a *App) hookKinds() (kinds []*forge.Hook) {
	for _, at := range a.Sites {
		if hook := at.Config.Driver.Hook; hook != nil && !slices.Contains(kinds, hook) {
			kinds = append(kinds, hook)
		}
	}
	return kinds
}

// hooked are the items that a delivery may mean: the addresses in it are what the forge
// thinks its own is, so the configured sites of its kind count.
func (a *App) hooked(kind *forge.Hook, item forge.HookItem) (keys []forge.TaskKey) {
	for _, at := range a.Sites {
		key := forge.TaskKey{Host: at.Host, Project: item.Project, Kind: item.Kind, Number: item.Number}
		if at.Config.Driver.Hook == kind && at.Takes(key) {
			keys = append(keys, key)
		}
	}
	return keys
}
