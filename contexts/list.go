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
	UUID  string
	Place Place
}

// minPrefix is the least number of hex digits that name a context.
const minPrefix = 4

// List yields all contexts, by place and UUID. Errors come as they are met,
// [Warning] for names that are ignored, and the list goes on. A context that
// moves meanwhile is listed once.
func (s *Store) List() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		entries, problems := s.survey()
		for _, err := range problems {
			if !yield(Entry{}, err) {
				return
			}
		}
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// survey reads running/ once more at the end, for what was resumed meanwhile.
func (s *Store) survey() (entries []Entry, problems []error) {
	where := map[string]Place{}
	collect := func(p Place, warn func(error)) {
		names, err := s.names(p, warn)
		if err != nil {
			problems = append(problems, fmt.Errorf("list %s: %w", p, err))
		}
		for _, id := range names {
			if _, known := where[id]; p != Running || !known {
				where[id] = p
			}
		}
	}
	for _, p := range Places {
		collect(p, func(err error) { problems = append(problems, err) })
	}
	collect(Running, func(error) {})
	for _, p := range Places {
		for _, id := range slices.Sorted(maps.Keys(where)) {
			if where[id] == p {
				entries = append(entries, Entry{id, p})
			}
		}
	}
	return entries, problems
}

// Find turns a UUID or a prefix of one into the UUID of a context that exists:
// ErrUnknown, or an [AmbiguousError]. Case does not matter.
func (s *Store) Find(ref string) (string, error) {
	want := strings.ToLower(strings.TrimSpace(ref))
	if canonical(want) {
		_, err := s.locate(want)
		return want, err
	}
	if !isPrefix(want) {
		return "", fmt.Errorf("%q is not a UUID or at least %d hex digits of one: %w", ref, minPrefix, ErrUnknown)
	}
	return s.byPrefix(ref, want)
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
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return "", errors.Join(fmt.Errorf("%q: %w", ref, ErrUnknown), problems)
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
