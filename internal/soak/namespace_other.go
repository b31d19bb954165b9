//go:build !linux

package main

import (
	"errors"

	"agent/internal/relay"
)

func (n namespace) relay(string, string) (*relay.Relay, error) { return nil, errors.ErrUnsupported }

func (n namespace) connect(bool) error { return errors.ErrUnsupported }
