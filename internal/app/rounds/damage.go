package rounds

import (
	"context"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/handlers/policy"
	"agent/internal/i18n"
)

// tellDamage says on an item that the log of its context is damaged, once for all: its
// people would wait for an agent that can do nothing. There is no log to note that in;
// the comment itself, found by its marker, is the note. key may be zero.
func (r *round) tellDamage(ctx context.Context, uuid string, key forge.TaskKey, err error) {
	if contexts.ExitCode(err) != contexts.ExitDamage || contexts.IsTorn(err) || ctx.Err() != nil {
		return
	}
	if r.Store.Simulates(uuid) {
		return // its task has nothing to do with it
	}
	if first, err := r.Store.Creation(uuid); uuid != "" && err == nil {
		key, _ = forge.ParseTaskKey(first.TaskKey, first.Forge)
	}
	at, ok := r.Site(key.Host)
	if !ok || key == (forge.TaskKey{}) || !r.take("damage of "+key.String(), &claims{}) {
		return
	}
	if err := r.sayDamage(ctx, at.Client, key, at.Config.Triggers(), at.Config.ProcessingLabel, at.Config.PausedLabel, at.Config.AwaitingLabel); err != nil {
		r.Log.Warn("damage could not be told on the task", "task", key, "error", err)
	}
}

func (r *round) sayDamage(ctx context.Context, client forge.Client, key forge.TaskKey, triggers []string, others ...string) error {
	t, err := client.Task(ctx, key)
	if err != nil {
		return err
	}
	if t.State != "open" || policy.ItemOf(t).Trigger(append(triggers, others...)) == "" {
		return nil // nobody waits for anything
	}
	lang := i18n.Detect(t.Title + t.Body)
	switch r.Config.Language {
	case "ja":
		lang = i18n.Ja
	case "en":
		lang = i18n.En
	}
	return engine.PostOnce(ctx, client, r.Ports.MarkerKey, key, 0, i18n.Text(lang, "damaged.head"))
}
