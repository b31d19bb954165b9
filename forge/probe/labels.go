package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"agent/forge"
)

// MissingLabels gives those of labels that a project lacks. It asks for one after
// the other: lists of labels can be long.
func (p *Probe) MissingLabels(ctx context.Context, project string, labels []forge.Label) (missing []forge.Label, err error) {
	for _, l := range labels {
		got, err := p.get(ctx, p.driver.LabelsPath(project)+"/"+url.PathEscape(l.Name))
		switch {
		case err != nil:
			return nil, err
		case got.status == http.StatusNotFound:
			missing = append(missing, l)
		case got.status != http.StatusOK:
			return nil, fmt.Errorf("HTTP %d", got.status)
		}
	}
	return missing, nil
}

// CreateLabels makes labels in a project, and gives those that it made before an error.
func (p *Probe) CreateLabels(ctx context.Context, project string, labels []forge.Label) (created []forge.Label, err error) {
	for _, l := range labels {
		if err := p.CreateLabel(ctx, project, l); err != nil {
			return created, fmt.Errorf("create label %q in %s: %w", l.Name, project, err)
		}
		created = append(created, l)
	}
	return created, nil
}

// CreateLabel makes one label in a project.
func (p *Probe) CreateLabel(ctx context.Context, project string, l forge.Label) error {
	got, err := p.do(ctx, http.MethodPost, p.driver.LabelsPath(project), p.driver.LabelBody(l))
	if err == nil && got.status != http.StatusCreated {
		err = fmt.Errorf("HTTP %d", got.status)
	}
	return err
}
