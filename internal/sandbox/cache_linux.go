package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// goBuild is where Go keeps what it compiled, in a home. To compile the standard
// library again for each task would take minutes.
const goBuild = ".cache/go-build"

// layCache puts the Go build cache of the real home under that of the private
// one: it is read from there, and written to a layer of its own.
func (p Policy) layCache() error {
	lower := filepath.Join(p.Home, goBuild)
	if p.Home == "" || !isDir(lower) || strings.ContainsAny(lower+p.Private, `:,\`) {
		return nil
	}
	at := filepath.Join(p.home(), goBuild)
	upper, work := filepath.Join(p.Private, "cache"), filepath.Join(p.Private, "cache-work")
	for _, dir := range []string{at, upper, work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	options := "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work + ",userxattr"
	return unix.Mount("overlay", at, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
}
