package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"agent/llm"
	"agent/llm/httpx"
)

// shape is how one request is written.
type shape struct {
	llm.Profile
	steps  []string // away from the profile's first form
	stream bool
	from   string // who may read what is opaque
}

// shape takes the profile that the request names, or the one that fits.
func (p *Provider) shape(r llm.Request) shape {
	base := llm.ProfileFor(p.host, r.Model)
	for _, name := range []string{r.Profile, p.config.Profile} {
		if name != "" && name != "auto" {
			base = llm.ProfileNamed(name)
			break
		}
	}
	taken := slices.Clone(r.Shape)
	p.mu.Lock()
	for _, step := range p.learned[r.Model] {
		if !slices.Contains(taken, step) {
			taken = append(taken, step)
		}
	}
	p.mu.Unlock()
	return shape{Profile: base.With(taken...), steps: taken, stream: !p.config.NoStream, from: p.host + " " + r.Model}
}

// learn keeps steps for a model, and reports whether one of them is new.
func (p *Provider) learn(model string, taken ...string) (more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, step := range taken {
		if !slices.Contains(p.learned[model], step) {
			p.learned[model] = append(p.learned[model], step)
			more = true
		}
	}
	return more
}

// refusal is one line of the table of what servers refuse by name.
type refusal struct {
	step  string
	sent  func(shape, llm.Request) bool // whether it can be about this request
	words []string                      // one of these, in lower case
	also  []string                      // and one of these, if there are any
}

// refusals are tried in this order: the more special words come first.
var refusals = []refusal{
	{llm.StepReasoningText, func(s shape, _ llm.Request) bool { return s.Reasoning != llm.ReasoningText }, []string{"reasoning_content"},
		[]string{"missing", "passed back", "must be provided", "is required"}},
	{llm.StepSignatures, func(s shape, _ llm.Request) bool { return s.Reasoning != llm.ReasoningSignatures }, []string{"thought_signature"}, nil},
	{llm.StepNoReasoning, func(s shape, _ llm.Request) bool { return s.Reasoning != llm.ReasoningNone },
		[]string{"reasoning_content", "reasoning_details", "'reasoning'", "extra_content", "encrypted content", "encrypted_content", "of type 'reasoning'"}, nil},
	{llm.StepNoUsage, func(s shape, _ llm.Request) bool { return s.stream && !s.NoUsage }, []string{"stream_options", "include_usage"}, nil},
	{llm.StepNoSchema, func(s shape, r llm.Request) bool { return len(r.Schema) > 0 && !s.NoSchema },
		[]string{"response_format", "text.format", "json_schema", "grammar"}, nil},
	{llm.StepNoFormat, func(s shape, r llm.Request) bool { return r.JSON && !s.NoFormat },
		[]string{"response_format", "text.format", "json_object", "json mode"}, nil},
	{llm.StepKeepTools, func(s shape, r llm.Request) bool { return !s.KeepTools && len(r.Kept) > 0 },
		[]string{"toolconfig", "tools= param", "`tools` param"}, nil},
	{llm.StepNoToolChoice, func(s shape, r llm.Request) bool {
		return s.ToolChoice != "" || s.KeepTools && len(r.Kept) > 0 && len(r.Tools) == 0
	}, []string{"tool_choice"}, nil},
	{llm.StepShortIDs, func(s shape, _ llm.Request) bool { return !s.ShortIDs },
		[]string{"length of 9", "with length 9", "nine characters", "tool call id"}, nil},
	{llm.StepNoToolName, func(s shape, _ llm.Request) bool { return !s.NoToolName }, []string{"name"},
		[]string{"role:tool", "property 'name' is unsupported", "tool message", "for role tool", "can have a name"}},
	{llm.StepStrictRoles, func(s shape, _ llm.Request) bool { return !s.Roles.Single },
		[]string{"roles must alternate", "unexpected role", "successive user or assistant", "expected last role", "must start with a user",
			"alternate between", "comes immediately after", "jinja exception", "jinja template", "roles must", "must be at the beginning", "must be a user message"}, nil},
}

// refused is the step that a refusal asks for by its words, "" if it names none.
// Servers say such things under many a status: 400, 404, 422, 500.
func refused(s shape, r llm.Request, err error) string {
	var e *llm.Error
	if !errors.As(err, &e) || e.Status < http.StatusBadRequest || e.Status == http.StatusTooManyRequests {
		return ""
	}
	if e.Kind == llm.Auth || e.Kind == llm.Quota || e.Kind == llm.ContextOverflow {
		return ""
	}
	for _, line := range refusals {
		if line.sent(s, r) && httpx.Mentions(e.Message, line.words...) && (line.also == nil || httpx.Mentions(e.Message, line.also...)) {
			return line.step
		}
	}
	return ""
}

func withShape(err error, taken []string) error {
	var e *llm.Error
	if errors.As(err, &e) {
		e.Shape = taken
	}
	return err
}

// kept is what goes back with a reply of chat completions.
type kept struct {
	Text    string                     `json:"reasoning_content,omitempty"`
	Details json.RawMessage            `json:"reasoning_details,omitempty"`
	Calls   map[string]json.RawMessage `json:"calls,omitempty"` // extra_content by the id of its call
}

// keep completes what an answer held by its reasoning, where that goes back as text.
func (s shape) keep(o *llm.Opaque, reasoning string) *llm.Opaque {
	var k kept
	if s.Reasoning == llm.ReasoningText && reasoning != "" && (o == nil || json.Unmarshal(o.Data, &k) == nil) {
		k.Text = reasoning
		o = opaque(k)
	}
	if o != nil {
		o.From = s.from
	}
	return o
}

// opaque is nil if there is nothing to keep.
func opaque(v any) *llm.Opaque {
	data, err := json.Marshal(v)
	if err != nil || string(data) == "{}" || string(data) == "null" {
		return nil
	}
	return &llm.Opaque{Data: data}
}
