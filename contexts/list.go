package contexts

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Entry is a context in a list.
type Entry struct {
	UUID string
	Dir  Dir
}

// minPrefix is the least number of hex digits that name a context.
const minPrefix = 4

// List yields all contexts, by directory and UUID, and at the end those that are
// lost ([LostError]), without a directory. Errors come as they are met,
// [Warning] for names that are ignored, and the list goes on. A context that
// moves meanwhile is listed once.
func (s *Store) List() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if !s.survey(yield, Dirs...) {
			return
		}
		lost, err := s.lostOnes()
		if err != nil && !yield(Entry{}, err) {
			return
		}
		for _, id := range lost {
			if !yield(Entry{UUID: id}, nil) {
				return
			}
		}
	}
}

// survey reports whether yield wants more.
func (s *Store) survey(yield func(Entry, error) bool, dirs ...Dir) bool {
	seen, problems := s.dirsOfAll(nil, dirs...)
	for _, err := range problems {
		if !yield(Entry{}, err) {
			return false
		}
	}
	for _, p := range dirs {
		for _, id := range slices.Sorted(maps.Keys(seen)) {
			if seen[id] == p && !yield(Entry{id, p}, nil) {
				return false
			}
		}
	}
	return true
}

// dirsOfAll lists the contexts in some directories. It reads running/ once more
// at the end, for what was resumed meanwhile. What is no context goes to warn,
// or to the problems if that is nil.
func (s *Store) dirsOfAll(warn func(error), dirs ...Dir) (seen map[string]Dir, problems []error) {
	seen = map[string]Dir{}
	if warn == nil {
		warn = func(err error) { problems = append(problems, err) }
	}
	for n, p := range append(slices.Clone(dirs), Running) {
		if n == len(dirs) {
			warn = func(error) {}
		}
		names, err := s.names(p, warn)
		if err != nil {
			problems = append(problems, fmt.Errorf("list %s: %w", p, err))
		}
		for _, id := range names {
			if _, known := seen[id]; n < len(dirs) || !known {
				seen[id] = p
			}
		}
	}
	return seen, problems
}

// Find turns a UUID or a prefix of one into the UUID of a context that exists:
// ErrUnknown, or an [AmbiguousError]. Case does not matter.
func (s *Store) Find(ref string) (string, error) {
	uuid, err := lookFor(s, ref, nil, func() (string, error) { return s.find(ref) })
	return uuid, s.orBehind(ref, err)
}

func (s *Store) find(ref string) (string, error) {
	want := strings.ToLower(strings.TrimSpace(ref))
	if canonical(want) {
		_, err := s.locate(want)
		return want, err
	}
	if !isPrefix(want) {
		return "", fmt.Errorf("%q is not a UUID or at least %d hex digits of one: %w", ref, minPrefix, ErrUnknown)
	}
	fits, known, err := s.indexed(want)
	if err != nil {
		return "", err
	}
	if known && len(fits) > 0 {
		return oneOf(ref, fits)
	}
	return s.byPrefix(ref, want)
}

// indexed finds the contexts whose UUID has a prefix in the index; known is
// whether it knows of every context.
func (s *Store) indexed(prefix string) (fits []string, known bool, err error) {
	x, err := s.snapshot()
	if errors.Is(err, errIndex) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer x.Close()
	if !x.complete {
		return nil, false, nil
	}
	found, err := x.prefixed(prefix)
	if errors.Is(err, errIndex) {
		return nil, false, nil
	}
	for _, i := range found {
		if _, err := s.locate(i.UUID); !errors.Is(err, ErrUnknown) { // its creation may have been interrupted
			fits = append(fits, i.UUID)
		}
	}
	return fits, err == nil, err
}

func (s *Store) byPrefix(ref, want string) (string, error) {
	var fits []string
	var problems error
	for e, err := range s.List() {
		var w *Warning
		switch {
		case errors.As(err, &w):
		case err != nil:
			problems = errors.Join(problems, err)
		case strings.HasPrefix(e.UUID, want):
			fits = append(fits, e.UUID)
		}
	}
	if len(fits) == 0 {
		return "", errors.Join(fmt.Errorf("%q: %w", ref, ErrUnknown), problems)
	}
	return oneOf(ref, fits)
}

func oneOf(ref string, fits []string) (string, error) {
	if len(fits) == 1 {
		return fits[0], nil
	}
	slices.Sort(fits)
	return "", &AmbiguousError{Ref: ref, Candidates: fits}
}

// isPrefix tells whether s could begin a canonical UUID and says enough of it.
func isPrefix(s string) bool {
	digits := 0
	for i, r := range s {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdef", r) {
			return false
		}
		if !dash {
			digits++
		}
	}
	return digits >= minPrefix && len(s) < 36
}
