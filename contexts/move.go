package contexts

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// errTaken says that the target of a move exists.
var errTaken = errors.New("there is something already")

// move renames a file or directory to a name that must be free, durably.
func (s *Store) move(from, to string) error {
	err := s.fs.RenameNoReplace(from, to)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("move to %s: %w", to, errTaken)
	}
	if err != nil {
		return err
	}
	// The new name first: until one of the two is on the disk a power cut
	// undoes the rename as a whole, and that is as good as not moved yet.
	return errors.Join(s.fs.SyncDir(path.Dir(to)), s.fs.SyncDir(path.Dir(from)))
}
