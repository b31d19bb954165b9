package github

import (
	"errors"
	"slices"
	"strings"

	"agent/forge"
)

// named puts the repository's name into an error of the port.
func named(name string, err error) error {
	var e *forge.Error
	if !errors.As(err, &e) {
		return err
	}
	copied := *e
	copied.Message = name + ": " + e.Message
	return &copied
}

// joined makes one error of several: the first one, with all messages once.
func joined(failures []error) error {
	if len(failures) == 0 {
		return nil
	}
	var first *forge.Error
	var texts []string
	for _, err := range failures {
		var e *forge.Error
		if !errors.As(err, &e) {
			return err // the context's own
		}
		if first == nil {
			first = e
		}
		if !slices.Contains(texts, e.Message) {
			texts = append(texts, e.Message)
		}
	}
	copied := *first
	copied.Message = strings.Join(texts, "; ")
	return &copied
}

// flat takes apart what errors.Join put together.
func flat(err error) []error {
	if err == nil {
		return nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var parts []error
		for _, e := range several.Unwrap() {
			parts = append(parts, flat(e)...)
		}
		return parts
	}
	return []error{err}
}
