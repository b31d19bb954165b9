package main

import (
	"context"
	"errors"
	"fmt"

	"agent/forge"
	"agent/handlers/engine"
)

// distrust says why a labelled item of a public project is left alone, "" if it
// is not. There anybody may open an item, and a template brings labels along:
// whoever put the label there must be a person who may write.
func (s *system) distrust(ctx context.Context, t forge.Task, j job) (why string, err error) {
	if j.trigger != "label" || t.Private || s.config.NewCommentHandling.Accept == "any" {
		return "", nil
	}
	by, err := j.at.client.LabelledBy(ctx, j.key, j.at.config.BotLabel)
	if err != nil {
		return "", &engine.Temporary{Err: err}
	}
	if by.Login == "" {
		by = t.Author // the forge does not say
	}
	p, err := j.at.client.Permission(ctx, j.key, by.Login)
	var failed *forge.Error
	switch {
	case errors.As(err, &failed) && (failed.Kind == forge.NotFound || failed.Kind == forge.Forbidden || failed.Kind == forge.Invalid):
		p = forge.None
	case err != nil:
		return "", &engine.Temporary{Err: err}
	}
	if p < forge.Write || by.Bot {
		return fmt.Sprintf("the project is public, and @%s, who put the label there, is no person who may write", by.Login), nil
	}
	return "", nil
}
