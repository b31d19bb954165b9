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

// CreateLabel makes one label in a project.
func (p *Probe) CreateLabel(ctx context.Context, project string, l forge.Label) error {
	got, err := p.do(ctx, http.MethodPost, p.driver.LabelsPath(project), p.driver.LabelBody(l))
	if err == nil && got.status != http.StatusCreated {
		err = fmt.Errorf("HTTP %d", got.status)
	}
	return err
}
