package handlers

import (
	"slices"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/llm"
	"agent/projections"
)

// response is what a failed model call leads to.
type response int

const (
	asksPerson response = iota // pause until a person acts
	retries                    // try again, then pause for a time
	corrects                   // the model's mistake: tell it, and count the correction
	shrinks                    // send less, if the request was too long for all that is known; else asksPerson
	simplifies                 // speak the JSON protocol, if the configuration leaves the choice; else asksPerson
	adapts                     // send the same in the next plainer shape; after the plainest, asksPerson
	leavesOut                  // send the same without the one tool that the refusal names
)

// responses is the second half of the table “Model servers” in docs/architecture.md;
// the first half is in package httpx. A kind that is not named here asks a person.
var responses = map[llm.Kind]response{
	llm.Transient:       retries,
	llm.RateLimited:     retries,
	llm.Timeout:         retries,
	llm.MalformedCall:   corrects,
	llm.Empty:           corrects,
	llm.ToolsRefused:    simplifies,
	llm.ContextOverflow: shrinks,
	llm.Quota:           asksPerson,
	llm.Auth:            asksPerson,
	llm.NotFound:        asksPerson,
	llm.Filtered:        asksPerson,
	llm.Truncated:       asksPerson,
	llm.Invalid:         shrinks,
}

func responseTo(s *projections.State) response {
	r := responses[llm.Kind(s.Work.Failure.Kind)]
	if refusedTool(s) != "" {
		return leavesOut
	}
	if first := s.Work.FailureSeq == s.Work.ToolsRefused; r == simplifies && (s.Config.Protocol != "auto" || !first) {
		return asksPerson
	}
	if r == shrinks && !canShrink(s) {
		r = adapts
	}
	if r == adapts && (llm.Kind(s.Work.Failure.Kind) != llm.Invalid || nextStep(s) == "") {
		return asksPerson
	}
	return r
}

// nextStep is the next plainer shape of requests that was not tried yet, "" if none
// is left.
func nextStep(s *projections.State) string {
	for _, step := range llm.Ladder {
		protocol := step == llm.StepJSON
		if slices.Contains(s.Shape.Steps, step) || protocol && (s.Config.Protocol != "auto" || s.Protocol() == "json") {
			continue
		}
		return step
	}
	return ""
}

// adapt takes that step. A model server that is out of service is given up for the
// next one that is configured.
func adapt(s *projections.State) Effect {
	w := &s.Work
	if w.Failure == nil {
		return nil
	}
	switch responseTo(s) {
	case leavesOut:
		return Record{&event.LLMAdapted{Step: "without_tool", Tool: refusedTool(s), Reason: w.Failure.Message}}
	case adapts:
		return Record{&event.LLMAdapted{Step: nextStep(s), Reason: w.Failure.Message}}
	case retries:
		if other := s.NextFallback(); other != nil && retryLater(s) != nil {
			return Record{&event.LLMSwitched{Provider: other.Provider, Model: other.Model, ContextLength: other.ContextLength,
				Profile: other.Profile, Reason: w.Failure.Kind}}
		}
	case corrects, shrinks, simplifies, asksPerson: // nothing of how requests look changes
	}
	return nil
}

// maxRefusals is how often in a row a request that was too long is made shorter.
const maxRefusals = 2

// canShrink reports whether the latest request was refused for its length, and
// what would be sent next is shorter or can be made so.
func canShrink(s *projections.State) bool {
	w := &s.Window
	if w.Refusals == 0 || w.Refusals > maxRefusals {
		return false
	}
	r := prompt.Request(s)
	if p := &s.Planning; s.Planned() && p.Open && p.Current < 0 {
		r = phaseRequest(s, p.Phase)
	}
	tokens := prompt.Estimate(s, r)
	return tokens < w.TooLong || compact(s, tokens) != nil
}

// modelPause says whether the latest failure of a model call pauses the work.
func modelPause(s *projections.State) *projections.Pausing {
	w := &s.Work
	switch responseTo(s) {
	case corrects, simplifies, shrinks, adapts, leavesOut:
		return nil
	case retries:
		if s.NextFallback() != nil {
			return nil
		}
		return retryLater(s)
	default:
		return pauses(event.ModelPause(w.Failure.Kind), w.Failure.Message, event.Until{Kind: "person"}, w.FailureSeq)
	}
}

// correct deals with a call that the model is to blame for. A phase of a plan
// goes on without its result where it can, as after a reply that cannot be used.
func correct(s *projections.State) Effect {
	if s.Work.Failure == nil || responseTo(s) != corrects {
		return nil
	}
	if instead := fallback(s); instead != nil {
		return Record{instead}
	}
	return Record{prompt.Correction(failedReply(s.Work.Failure))}
}

func failedReply(f *event.LLMFailed) string {
	if llm.Kind(f.Kind) == llm.MalformedCall {
		return "The server could not read the tool call in your reply: " + f.Message + "\nMake the call again. Its arguments must be one valid JSON object."
	}
	return "Your reply was empty. Reply again, as you were told to."
}

// unusable reports whether the latest model call was one too many that the model
// is to blame for.
func unusable(s *projections.State) bool {
	w := &s.Work
	return w.Failure != nil && responseTo(s) == corrects && w.Corrections >= maxCorrections-1
}
