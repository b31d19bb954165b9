//go:build !linux

package startup

// GiveBack does nothing here.
func GiveBack() {}
