// Package shapes turns the text of a model's reply in a planning phase into the
// typed shape of that phase. It is pure.
//
// Models write the same thing in many ways, so reading is forgiving: thoughts,
// prose and code fences around the object; the shape under its own key, at the
// top level or in wrappers; flags and comment beside the shape or in it; texts
// where objects, lists, numbers or flags are expected; numbers as ids; a list
// of actions alone; subtasks without actions.
//
// What holds for every shape:
//   - A value is normalised: lists are never nil, names are of the known ones,
//     confidences are in 0 to 1, and it fits the JSON Schema of its phase
//     ([Schema]), which providers are given too.
//   - Nothing is made up for a tool. Parameters are those of the reply, or {} if
//     it gives none (absent, null, "" or []). Any others that are no object are
//     a problem, unless the action names no tool: there they mean nothing.
//   - A reply that cannot be used is a problem: one sentence for the model, and
//     the zero value. A plan without actions is such a reply.
//   - The comment of a reply is given where an event holds it; package projections
//     reads those of all replies for people.
//   - A confidence that the reply does not give is 0.5: neither sure enough to
//     pass for a good one nor so low that a decision is dropped for it.
//   - Texts are cut at 4000 characters and ids at 100. Lists are cut at 100
//     entries, except actions, of which more are a problem: half a plan is none.
//
// If several objects of a reply fit, the first counts.
package shapes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agent/internal/loosejson"
)

// Bounds of what is taken from a reply.
const (
	maxText   = 4000 // characters
	maxID     = 100  // characters, of ids and names
	maxItems  = 100
	maxNested = 8  // wrappers around a shape
	maxDepth  = 32 // of parameters: an event has room for 64
	maxReply  = 64 // of a reply: what is deeper is not looked into
)

// kind says where in a reply a shape is.
type kind struct {
	names []string // keys that hold the shape
	main  string   // the field that a text or list in the place of the shape stands for
	marks []string // fields by which the shape is known without its key
}

// find looks for an object that holds the shape, and gives the scopes to read it in.
func (k kind) find(text string) (scopes, string) {
	for data := range loosejson.Outermost(loosejson.StripThinking(text)) {
		if o, ok := asObject(data); ok && nesting(data) <= maxReply {
			if s := k.within(o, nil); s != nil {
				return s, ""
			}
		}
	}
	return nil, fmt.Sprintf("Your reply holds no JSON object with %q. Reply with exactly one JSON object of the form that was asked for.", slices.Concat(k.names, k.marks)[0])
}

// within looks into o and the objects in it, but for parameters of tools, which are not ours to read.
func (k kind) within(o object, around scopes) scopes {
	s := append(scopes{o}, around...)
	if raw := s[:1].get(k.names...); raw != nil {
		if inner, ok := asObject(raw); ok {
			return append(scopes{inner}, s...)
		}
		return append(scopes{o, object{k.main: raw}}, around...) // what stands under its own key counts more
	}
	if s[:1].get(k.marks...) != nil {
		return s
	}
	if len(s) > maxNested {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if slices.Contains(parameterKeys, key) {
			continue
		}
		if inner, ok := asObject(o[key]); ok {
			if found := k.within(inner, s); found != nil {
				return found
			}
		}
	}
	return nil
}

// scopes are the objects that a field may stand in, the innermost first.
type scopes []object

// scopeOf is an object as a scope. Anything else stands for the field main.
func scopeOf(raw json.RawMessage, main string) scopes {
	o, ok := asObject(raw)
	if !ok {
		o = object{main: raw}
	}
	return scopes{o}
}

// get is the first value that is there and not null.
func (s scopes) get(keys ...string) json.RawMessage {
	for _, o := range s {
		for _, key := range keys {
			if raw := o[key]; present(raw) {
				return raw
			}
		}
	}
	return nil
}

func (s scopes) text(keys ...string) string              { return text(s.get(keys...), maxText) }
func (s scopes) id(keys ...string) string                { return id(s.get(keys...)) }
func (s scopes) list(keys ...string) []string            { return list(s.get(keys...)) }
func (s scopes) flag(keys ...string) (value, known bool) { return flag(s.get(keys...)) }

func (s scopes) confidence(keys ...string) float64 {
	v, ok := number(s.get(keys...))
	if !ok {
		return unsure
	}
	if v >= 2 && v <= 100 {
		v /= 100 // a percentage
	}
	return min(max(v, 0), 1)
}

// unsure is a confidence that is not given.
const unsure = 0.5

// oneOf is the field as one of the names, or "".
func (s scopes) oneOf(names []string, keys ...string) string {
	word := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(s.id(keys...)))
	if slices.Contains(names, word) {
		return word
	}
	return ""
}

// comment is the one that stands outermost.
func (s scopes) comment() string {
	for _, o := range slices.Backward(s) {
		if said := strings.TrimSpace(text(o["comment"], maxText)); said != "" {
			return said
		}
	}
	return ""
}
