package contexts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent/forge"
	"agent/internal/cluster"
)

// A server of the cluster may answer with an old state: it was just elected and has not caught
// up, or another one was elected and it does not know yet. An answer that something exists is
// right. An answer that it does not exist is asked for again.
const (
	doubtTime  = 2 * time.Second        // how long such an answer is doubted
	doubtPause = 100 * time.Millisecond // between two questions
	// lookTime is how long a name that a person gave is looked for before it is called unknown.
	lookTime = 3 * time.Second
	// catchUpTime bounds one try of catching up meanwhile.
	catchUpTime = 5 * time.Second
)

// doubt asks again while an answer may come from a server that is behind. The last answer
// counts.
func doubt(ctx context.Context, ask func() (behind bool, err error)) error {
	for end := time.Now().Add(doubtTime); ; {
		behind, err := ask()
		if err != nil || !behind || time.Now().After(end) {
			return err
		}
		if err := pause(ctx, doubtPause); err != nil {
			return err
		}
	}
}

// lookFor resolves a name that a person gave. In a cluster a name that is not known is looked
// for again before it is called unknown, each time after catching up.
func lookFor[T any](s *Store, ref string, hosts []string, look func() (T, error)) (T, error) {
	found, err := look()
	if s.o.Bus == nil || !mayName(ref, hosts) {
		return found, err
	}
	for end := time.Now().Add(s.wait); errors.Is(err, ErrUnknown) && !s.behind.Load() && time.Now().Before(end); {
		time.Sleep(doubtPause)
		if !s.o.ReadOnly { // else another store of this process follows the history
			ctx, cancel := context.WithTimeout(context.Background(), catchUpTime)
			_ = s.catchUpAll(ctx) // what failed is in s.behind
			cancel()
		}
		found, err = look()
	}
	return found, err
}

// mayName reports whether a reference has the form of a name: only such a one is looked for again.
func mayName(ref string, hosts []string) bool {
	want := strings.ToLower(strings.TrimSpace(ref))
	_, err := forge.ParseTaskKey(ref, hosts...)
	return err == nil || canonical(want) || isPrefix(want)
}

// orBehind is why nothing is known of a context: one that is missing here may be there, if
// what others have begun could not be asked.
func (s *Store) orBehind(ref string, err error) error {
	if errors.Is(err, ErrUnknown) && s.behind.Load() {
		return fmt.Errorf("this machine knows no context of %q, and what others have begun could not be asked: %w", ref, cluster.ErrUnreachable)
	}
	return err
}
