package sandbox

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Box compiles the confinement. A tree to be written that is a link or is not
// there is an error: the program would work somewhere else. Where the kernel has no
// Landlock the box keeps nothing in.
func (c Confinement) Box() (*Box, error) {
	var rules []landlock.Rule
	for _, tree := range c.Write {
		f, err := os.OpenFile(tree, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
		if err != nil {
			return nil, fmt.Errorf("sandbox: %w", err)
		}
		defer f.Close()
		rules = append(rules, wholeTree(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))) // the opened one, whatever has its name now
	}
	for _, name := range c.readable() {
		rules = append(rules, readOnlyRule(name))
	}
	for _, name := range present([]string{"/dev/null", "/dev/urandom", "/dev/zero"}) {
		rules = append(rules, landlock.RWFiles(name))
	}
	if c.Network {
		for _, name := range present([]string{"/run/nscd", "/run/systemd/resolve"}) {
			rules = append(rules, landlock.PathAccess(ll.AccessFSResolveUnix, name))
		}
	}
	return newBox(landlock.Config{HandledAccessFS: landlock.V11.HandledAccessFS, Scoped: landlock.V11.Scoped}, rules)
}

func newBox(config landlock.Config, rules []landlock.Rule) (*Box, error) {
	fd, flags, err := config.BestEffort().NewRulesetFD(rules...)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return &Box{ruleset: fd, flags: flags}, nil
}

func readOnlyRule(name string) landlock.Rule {
	if isDir(name) {
		return landlock.RODirs(name)
	}
	return landlock.ROFiles(name)
}
