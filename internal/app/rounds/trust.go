package rounds

import (
	"context"
	"errors"

	"agent/forge"
	"agent/handlers/policy"
	"agent/internal/app"
	"agent/internal/i18n"
)

// refusal says why an item does not become a task, "" if it does.
func (r *round) refusal(ctx context.Context, t forge.Task, j job) (string, error) {
	c := policy.Candidate{Item: policy.ItemOf(t), Triggers: j.at.Config.Triggers(), Command: j.trigger == policy.ByCommand || j.trigger == policy.ByComment,
		Accept: r.Config.NewCommentHandling.Accept}
	refusal, need := policy.Begin(c)
	if need == policy.Labeller {
		setter, err := r.labeller(ctx, j.at, j.key, c.Item.Trigger(j.at.Config.Triggers()), t.Author)
		if err != nil {
			return "", err
		}
		c.Labeller = &setter
		refusal, _ = policy.Begin(c)
	}
	return r.because(refusal), nil
}

// because says a refusal in words, "" if there is none.
func (r *round) because(refusal *policy.Refusal) string {
	switch {
	case refusal == nil:
		return ""
	case refusal.Arg == "":
		return r.text(i18n.ID(refusal.Why))
	}
	return r.text(i18n.ID(refusal.Why), refusal.Arg)
}

// labeller reads who set the trigger label, and what that account may do.
func (r *round) labeller(ctx context.Context, at app.Site, key forge.TaskKey, label string, author forge.Account) (policy.Setter, error) {
	set, err := at.Client.LabelledBy(ctx, key, label)
	if err != nil {
		return r.hidden(err)
	}
	by := set.By
	if by.Login == "" {
		by = author // it came with the item
	}
	may, err := at.Client.Permission(ctx, key, by.Login)
	var failed *forge.Error
	if err != nil && !(errors.As(err, &failed) && failed.Kind == forge.Invalid) { // no account has such a name
		return r.hidden(err)
	}
	return policy.Setter{Login: by.Login, Bot: by.Bot, May: may, Event: set.Event}, nil
}

// hidden tells a forge that never says such things from one that fails now.
func (r *round) hidden(err error) (policy.Setter, error) {
	var failed *forge.Error
	if errors.As(err, &failed) && (failed.Kind == forge.NotFound || failed.Kind == forge.Forbidden) {
		r.Log.Warn("the forge does not say who set the label, or who has write access", "error", err)
		return policy.Setter{Hidden: true}, nil
	}
	return policy.Setter{}, unread(err)
}

// listLabelled are the open items with any of the labels that make a task.
func listLabelled(ctx context.Context, at app.Site) (tasks []forge.Task, err error) {
	for _, label := range at.Config.Triggers() {
		more, listErr := at.Client.ListTasks(ctx, label)
		tasks, err = append(tasks, more...), errors.Join(err, listErr)
	}
	return tasks, err
}
