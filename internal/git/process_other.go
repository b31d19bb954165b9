//go:build !linux

package git

import "os/exec"

// ownGroup makes the process a group of its own, which is killed as a whole.
func ownGroup(p *exec.Cmd) { leadGroup(p) }

func runTied(p *exec.Cmd) error { return p.Run() }
