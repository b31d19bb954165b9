//go:build !linux

package main

import "os"

// fdatasync is a whole sync where there is nothing less.
func fdatasync(f *os.File) error { return f.Sync() }
