package snapshot

import (
	"fmt"
	"slices"
	"strings"
)

// Check reads what a save stored: the tree, and of each path that it changed the trees on
// the way and the content. An error that is not of the disk is [ErrMissing].
func (s *Store) Check(tree string, paths []string) error {
	t, err := s.Tree(tree, nil)
	if err != nil {
		return err
	}
	for _, path := range paths {
		e, ok := t.Entry(path)
		switch {
		case !ok && t.lacks(path):
			return fmt.Errorf("the directory of %q %w", path, ErrMissing)
		case !ok || e.Mode == ModeSubmodule:
			continue // it was deleted, or is elsewhere
		}
		if _, ok := s.Blob(e.Name); !ok {
			return fmt.Errorf("the content of %q %w", path, ErrMissing)
		}
	}
	return nil
}

// lacks reports whether a directory on the way to a path is not stored.
func (t *Tree) lacks(path string) bool {
	for t != nil && !t.absent {
		dir, left, isBelow := strings.Cut(path, "/")
		if !isBelow {
			return false
		}
		t, path = t.dirs[dir], left
	}
	return t != nil
}

// Broken names the packs of which an object cannot be read, sorted.
func (s *Store) Broken() (packs []string) {
	for base, names := range s.byPack() {
		whole := 0
		s.readable(base, names, func(object) { whole++ })
		if whole < len(names) {
			packs = append(packs, base)
		}
	}
	slices.Sort(packs)
	return packs
}

// Salvage stores again what can be read of broken packs, and names those packs.
func (s *Store) Salvage() (broken []string, err error) {
	all := s.byPack()
	broken = s.Broken()
	for _, base := range broken {
		var good []object
		s.readable(base, all[base], func(o object) { good = append(good, o) })
		for _, name := range all[base] {
			s.where[name] = slices.DeleteFunc(s.where[name], func(b string) bool { return b == base })
		}
		if len(good) == 0 {
			continue
		}
		if err := s.put(len(good[0].name), good); err != nil {
			return nil, err
		}
	}
	return broken, nil
}

func (s *Store) byPack() map[string][]string {
	all := map[string][]string{}
	for name, packs := range s.where {
		for _, base := range packs {
			all[base] = append(all[base], name)
		}
	}
	return all
}

// readable gives the objects of a pack that are what their names say.
func (s *Store) readable(base string, names []string, each func(object)) {
	for _, name := range names {
		kind, data, err := s.read(base, name)
		if err == nil && nameOf(len(name), kind, data) == name {
			each(object{name, kind, data})
		}
	}
}
