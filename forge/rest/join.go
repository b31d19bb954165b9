package rest

import (
	"errors"
	"slices"
	"strings"

	"agent/forge"
)

// Named puts the project's name into an error of the port.
func Named(name string, err error) error {
	var e *forge.Error
	if !errors.As(err, &e) {
		return err
	}
	copied := *e
	copied.Message = name + ": " + e.Message
	return &copied
}

// Joined makes one error of several: the first one, with all messages once.
func Joined(failures []error) error {
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

// Flat takes apart what errors.Join put together.
func Flat(err error) []error {
	if err == nil {
		return nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var parts []error
		for _, e := range several.Unwrap() {
			parts = append(parts, Flat(e)...)
		}
		return parts
	}
	return []error{err}
}
