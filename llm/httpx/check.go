package httpx

import (
	"errors"
	"fmt"
	"slices"

	"agent/llm"
)

// Reached says whether err came from a server, or is none.
func Reached(err error) bool {
	var e *llm.Error
	return err == nil || errors.As(err, &e) && e.Status != 0
}

// Absent is the error of a model that is not on the list of models. What to do is added.
func (c *Client) Absent(model string, models []string, do string) error {
	message := fmt.Sprintf("the server has no model %q; %s", model, do)
	if model == "" {
		message = "the server has no model; " + do
	}
	if n := len(models); n > 0 {
		message += fmt.Sprintf("; it has %d, as %s", n, models[0])
	}
	return &llm.Error{Kind: llm.NotFound, Message: c.Line(message)}
}

// Has says whether the model is on the list, or, if none is configured, any is.
func Has(models []string, model string) bool {
	return slices.Contains(models, model) || model == "" && len(models) > 0
}
