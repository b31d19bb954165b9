package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/app"
)

// distrust says why a labelled item of a public project is left alone, "" if it
// is not. There anybody may open an item, and a template brings labels along:
// whoever put the label there must be a person who may write. Where the forge
// does not tell such things its own rule holds, that few may set labels.
func (s *system) distrust(ctx context.Context, t forge.Task, j job) (why string, err error) {
	if j.trigger != "label" || t.Private || s.Config.NewCommentHandling.Accept == "any" {
		return "", nil
	}
	by, err := j.at.Client.LabelledBy(ctx, j.key, trigger(j.at, t.Labels))
	if err != nil {
		return "", s.untold(err)
	}
	if by.Login == "" {
		by = t.Author // it came with the item
	}
	p, err := j.at.Client.Permission(ctx, j.key, by.Login)
	var failed *forge.Error
	if err != nil && !(errors.As(err, &failed) && failed.Kind == forge.Invalid) { // no account has such a name
		return "", s.untold(err)
	}
	if p < forge.Write || by.Bot {
		return fmt.Sprintf("the project is public, and @%s, who put the label there, is no person who may write", by.Login), nil
	}
	return "", nil
}

// labelled are the open items with any of the labels that make a task.
func labelled(ctx context.Context, at app.Site) (tasks []forge.Task, err error) {
	for _, label := range at.Config.Triggers() {
		more, listErr := at.Client.ListTasks(ctx, label)
		tasks, err = append(tasks, more...), errors.Join(err, listErr)
	}
	return tasks, err
}

// trigger is the label that makes an item with these labels a task.
func trigger(at app.Site, labels []string) string {
	for _, label := range at.Config.Triggers() {
		if slices.Contains(labels, label) {
			return label
		}
	}
	return ""
}

// untold is nil if the forge will never tell, and an error if it may later.
func (s *system) untold(err error) error {
	var failed *forge.Error
	if errors.As(err, &failed) && (failed.Kind == forge.NotFound || failed.Kind == forge.Forbidden) {
		s.Log.Warn("the forge does not tell who set the label or who may write", "error", err)
		return nil
	}
	return &engine.Temporary{Err: err}
}
