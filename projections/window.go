package projections

import (
	"agent/eventlog/event"
	"agent/llm"
)

// Window is what is known of the length of requests that the model server takes,
// in estimated tokens.
type Window struct {
	Passed   int // the longest request that got a reply
	TooLong  int // the latest one that was refused for its length
	Refusals int // refusals for length in a row, since the latest reply
	learned  int // what a request may have, by those refusals; 0 if there were none
	model    string
	length   int // of the window, as configured
}

// learn takes from the outcome of a request how long one may be. A refusal that no
// class names counts if the request was longer than any that passed.
func (w *Window) learn(outcome event.Body, open *Open) {
	if pinned, ok := outcome.(*event.ConfigPinned); ok {
		w.configured(pinned)
		return
	}
	call, ok := requestOf(open)
	if !ok {
		return
	}
	switch b := outcome.(type) {
	case *event.LLMReplied:
		w.Passed, w.Refusals = max(w.Passed, call.Estimated), 0
	case *event.LLMFailed:
		unknown := b.Kind == string(llm.Invalid)
		switch {
		case b.Kind == string(llm.ContextOverflow), unknown && w.Passed > 0 && call.Estimated > w.Passed:
			w.refused(call.Estimated, b.Window)
		case unknown: // length is not the reason: to shorten it more would never end
			w.Refusals = 0
		}
	}
}

// configured forgets what was learned about another model.
func (w *Window) configured(c *event.ConfigPinned) {
	if w.model != c.Model || w.length != c.ContextLength {
		*w = Window{model: c.Model, length: c.ContextLength}
	}
}

// refused takes the window that the server named, or less than what it refused: an
// estimate may be too low.
func (w *Window) refused(tokens, named int) {
	w.TooLong, w.learned = tokens, tokens*3/4
	if named >= tokens/8 && named < w.learned {
		w.learned = named
	}
	w.Refusals++
}

// forgive lets a person's resume try again. What an unknown refusal taught may be wrong.
func (w *Window) forgive(latest *event.LLMFailed) {
	w.Refusals = 0
	if latest != nil && latest.Kind == string(llm.Invalid) {
		w.learned = 0
	}
}

// WindowTokens is how long a request may be: as configured, or less if the server said so.
func (s *State) WindowTokens() int {
	learned, configured := s.Window.learned, s.Config.ContextLength
	if learned > 0 && (configured <= 0 || learned < configured) {
		return learned
	}
	return configured
}
