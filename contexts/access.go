package contexts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// AccessError says that the store may not be used as it is; Hint says what to do.
type AccessError struct {
	Name, Problem, Hint string
}

func (e *AccessError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Name, e.Problem, e.Hint)
}

// checkAccess wants a directory of this user that is closed to everybody else.
func (s *Store) checkAccess(dir string) error {
	info, err := s.fs.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &DamageError{Name: dir, Reason: "is not a directory"}
	}
	return s.checkOwn(dir, info, "700")
}

func (s *Store) checkOwn(name string, info fs.FileInfo, want string) error {
	shown := path.Join(s.o.Dir, name)
	st, real := info.Sys().(*syscall.Stat_t)
	if !real {
		return nil
	}
	if me := os.Geteuid(); int(st.Uid) != me {
		return &AccessError{shown, fmt.Sprintf("belongs to user %d, not to %d", st.Uid, me),
			"run as its owner or choose another directory"}
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return &AccessError{shown, fmt.Sprintf("is open to others (mode %04o)", perm),
			fmt.Sprintf("chmod %s %s", want, shown)}
	}
	return nil
}

// CheckFiles looks at everything below the directory of a context: whose it is, and
// who may read it. It is an [AccessError] if others may, and damage if something is
// neither a file nor a directory.
func (s *Store) CheckFiles(uuid string) error {
	at, err := s.locate(uuid)
	if err != nil {
		return err
	}
	return s.checkFiles(pathOf(at, uuid))
}

// CheckOwn does the same with what the store keeps beside the contexts.
func (s *Store) CheckOwn() error {
	var problems []error
	for _, name := range []string{keyFile, scanFile, gcFile, checksFile, indexDir, budgetDir, locksDir, controlDir, stagingDir, quarantineDir, AnswersDir, waitingDir} {
		problems = append(problems, s.checkFiles(name))
	}
	return errors.Join(problems...)
}

func (s *Store) checkFiles(name string) error {
	info, err := s.fs.Lstat(name)
	switch {
	case isMissing(err):
		return nil // it moved, or was replaced, meanwhile
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return s.checkOwn(name, info, "600")
	case !info.IsDir():
		return &DamageError{Name: name, Reason: "is neither a file nor a directory"}
	}
	if err := s.checkOwn(name, info, "700"); err != nil {
		return err
	}
	entries, err := s.fs.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.checkFiles(path.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Medium names the file system of a directory if locks cannot be trusted on it, "" if they can.
func Medium(dir string) (string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return unreliable(int(f.Fd()))
}

// checkMedium refuses file systems on which locks cannot be trusted.
func (s *Store) checkMedium() error {
	if s.o.Force {
		return nil
	}
	f, err := s.fs.OpenFile(locksDir+"/"+sweepLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	real, ok := f.(interface{ Fd() uintptr })
	if !ok {
		return nil
	}
	kind, err := unreliable(int(real.Fd()))
	if err != nil || kind == "" {
		return err
	}
	return &AccessError{s.o.Dir, "is on " + kind + ", where locks cannot be trusted",
		"choose a directory on a local disk"}
}
