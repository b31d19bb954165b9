package setup

import (
	"context"
	"fmt"

	"agent/forge/probe"
	"agent/internal/config"
)

// CreateLabels makes the labels that the projects of a configuration lack, and
// calls created for each.
func CreateLabels(ctx context.Context, cfg *config.Config, created func(label, project string)) error {
	for _, f := range cfg.Forges() {
		if err := createLabels(ctx, f, created); err != nil {
			return err
		}
	}
	return nil
}

func createLabels(ctx context.Context, f config.Forge, created func(label, project string)) error {
	p := probe.New(f.Driver, f.APIURL, f.Token)
	for _, project := range f.Projects {
		missing, err := p.MissingLabels(ctx, project, f.Labels())
		if err != nil {
			return fmt.Errorf("labels of %s: %w", project, err)
		}
		made, err := p.CreateLabels(ctx, project, missing)
		for _, l := range made {
			created(l.Name, project)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
