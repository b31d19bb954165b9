//go:build !linux

package fsx

import "os"

type synced struct{ *os.File }
