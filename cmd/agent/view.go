package main

import (
	"agent/internal/cli"
	"agent/internal/config"
)

// view is what commands that only read work with.
type view struct{ *cli.View }

func (a *commands) view(opts ...config.Option) (view, error) {
	v, err := a.View(opts...)
	return view{v}, err
}
