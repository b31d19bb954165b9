package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/user"
	"strconv"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
)

// errSignal is the cause of a context that a pause or stop signal cancelled.
var errSignal = errors.New("a pause or stop was asked for")

// takeSignals appends what people asked for. A signal is removed only after its event is durable.
func (e *Engine) takeSignals() error {
	if e.state.Status.Ended() {
		return nil
	}
	pending, err := e.p.Store.Pending(e.log.UUID())
	if err != nil {
		return err
	}
	if payload, ok := pending[contexts.Stop]; ok && e.state.Stop == nil {
		p := payloadOf(payload)
		if err := e.input(&event.StopRequested{By: "command", Reason: p.Reason, Actor: clean(p.By)}); err != nil {
			return err
		}
	}
	pausing := e.state.Pause != nil // people may see the label of a pause before it is complete
	if err := e.takePause(pending); err != nil {
		return err
	}
	for _, signal := range []contexts.Signal{contexts.Stop, contexts.Pause, contexts.Resume} {
		if signal == contexts.Resume && (pausing || e.state.Status.Directory() != "running") {
			continue // it is for the next run
		}
		if _, ok := pending[signal]; ok {
			if err := e.p.Store.Clear(e.log.UUID(), signal); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) takePause(pending map[contexts.Signal][]byte) error {
	if e.state.Pause != nil || e.state.Status.Directory() != "running" {
		return nil
	}
	if payload, ok := pending[contexts.Pause]; ok {
		return e.input(&event.PauseRequested{By: "command", Actor: clean(payloadOf(payload).By)})
	}
	if e.p.PauseFile() {
		return e.input(&event.PauseRequested{By: "signal_file"})
	}
	return nil
}

// signalled reports whether a person wants the work to rest or stop.
func (e *Engine) signalled() bool {
	pending, err := e.p.Store.Pending(e.log.UUID())
	if err != nil {
		return false
	}
	_, pause := pending[contexts.Pause]
	_, stop := pending[contexts.Stop]
	return pause || stop || e.state.Pause == nil && e.p.PauseFile() // one that was taken already is no news
}

const signalInterval = 200 * time.Millisecond

// untilSignal gives a context that a pause or stop signal cancels.
func (e *Engine) untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(signalInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if e.signalled() {
					cancel(errSignal)
				}
			}
		}
	}()
	return ctx, func() { cancel(nil); <-ended }
}

// interruptedBySignal is nil if ctx ended because of a signal: the next step deals with that.
func interruptedBySignal(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSignal) {
		return nil
	}
	return err
}

// SignalPayload is what a signal of a command carries.
type SignalPayload struct {
	By     string  `json:"by,omitempty"`     // account of the machine
	Add    float64 `json:"add,omitempty"`    // resume: how much of a reached limit is granted
	Reason string  `json:"reason,omitempty"` // stop
}

// payloadOf reads a payload. A damaged one still means its signal; earlier releases
// wrote the reason of a stop as it is.
func payloadOf(data []byte) (p SignalPayload) {
	if json.Unmarshal(data, &p) != nil {
		return SignalPayload{Reason: string(data)}
	}
	return p
}

// Operator names the account of the machine that runs the program.
func Operator() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// TakeResume turns a pending resume signal into the event that ends a pause.
func TakeResume(store *contexts.Store, uuid string) (*event.ResumeRequested, error) {
	pending, err := store.Pending(uuid)
	payload, ok := pending[contexts.Resume]
	if err != nil || !ok {
		return nil, err
	}
	p := payloadOf(payload)
	return &event.ResumeRequested{By: "command", Person: true, Add: p.Add, Actor: clean(p.By)}, nil
}
