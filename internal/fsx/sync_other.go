//go:build !linux && !nosync

package fsx

import "os"

type synced struct{ *os.File }

func syncDir(d *os.File) error { return d.Sync() }
