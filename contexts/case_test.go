package contexts

import (
	"errors"
	"strings"
	"testing"
)

// A task has one context at a time and one history, however its URL is spelled,
// with the index and without it.
func TestKeysWithoutCase(t *testing.T) {
	s, _ := realStore(t, Options{})
	made(t, s, idA)
	other := strings.ToUpper(key)
	lock, err := s.LockKey(key)
	must(t, err)
	if _, err := s.LockKey(other); !errors.Is(err, ErrBusy) {
		t.Errorf("two locks for one task: %v", err)
	}
	must(t, lock.Close())
	for range 2 {
		if id, live, err := s.Active(other); id != idA || !live || err != nil {
			t.Errorf("%q, %v, %v", id, live, err)
		}
		if of, err := s.OfTask(other); len(of) != 1 || err != nil {
			t.Errorf("%+v, %v", of, err)
		}
		must(t, s.fs.RemoveAll(indexDir))
	}
}
