package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/internal/config"
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// backOff are the waits between attempts.
var backOff = []time.Duration{time.Second, 5 * time.Second}

// longestWait bounds the wait that a server asks for.
const longestWait = 30 * time.Second

// receiver is one entry of notify.
type receiver struct {
	id       string // the same as long as the entry is the same
	name     string // for people, without secrets
	on       []string
	template string
	timeout  time.Duration
	backOff  []time.Duration
	queue    chan item
	send     func(context.Context, Message) error
}

// failure is the error of one attempt.
type failure struct {
	text   string
	missed bool          // it cannot have been taken, and may be later
	after  time.Duration // not before
}

func (f *failure) Error() string { return f.text }

func newReceiver(i int, c config.Notification, version string) *receiver {
	way := c.Ways()[0]
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", way, c.On, c.Address(), c.Command, c.Email.To))
	r := &receiver{id: way + ":" + hex.EncodeToString(sum[:8]), name: fmt.Sprintf("notify[%d] (%s)", i, Where(c)), on: c.On, template: c.Template,
		timeout: time.Duration(c.TimeoutSeconds) * time.Second, backOff: backOff, queue: make(chan item, queue)}
	switch way {
	case "command":
		r.send = command{c.Command, c.Env}.send
	case "email":
		r.send = email{c.Email.Sendmail, c.Email.From, c.Email.To}.send
	default:
		r.send = newPost(way, c, version).send
	}
	return r
}

// wants reports whether the receiver is to be told of one of some kinds.
func (r *receiver) wants(kinds []string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(r.on, k) })
}

// deliver sends a message, and again where it cannot have been taken.
func (r *receiver) deliver(ctx context.Context, m Message) (attempts int, err error) {
	m = m.with(r.template)
	for {
		err = r.attempt(ctx, m)
		attempts++
		var f *failure
		if err == nil || !errors.As(err, &f) || !f.missed || attempts > len(r.backOff) {
			return attempts, err
		}
		select {
		case <-ctx.Done():
			return attempts, err
		case <-time.After(max(r.backOff[attempts-1], min(f.after, longestWait))):
		}
	}
}

// attempt sends a message once. One that was given up may have been taken.
func (r *receiver) attempt(ctx context.Context, m Message) error {
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	err := r.send(limited, m)
	switch {
	case err != nil && ctx.Err() != nil:
		return &failure{text: "the program ended before the receiver answered"}
	case err != nil && limited.Err() != nil:
		return &failure{text: fmt.Sprintf("the receiver did not end within %v", r.timeout)}
	}
	return err
}

// Where says where a notification goes, without anything secret.
func Where(c config.Notification) string {
	switch way := c.Ways()[0]; way {
	case "command":
		return way + " " + c.Command[0]
	case "email":
		return way + " " + strings.Join(c.Email.To, ", ")
	default:
		return way + " " + hostOf(c.Address())
	}
}
