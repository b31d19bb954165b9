package llm

import (
	"slices"
	"strings"
)

// Profile is the shape of requests that a server wants. The conversation stays as
// it is in the log; [Profile.Messages] orders its turns, and an adapter writes only
// the fields that the profile leaves.
type Profile struct {
	Name   string
	hosts  []string // ends of the names of hosts that want it
	models []string // parts of the names of models that want it, wherever they run

	Roles      Roles
	ShortIDs   bool      // ids of calls are nine letters or digits
	Reasoning  Reasoning // what goes back with a reply
	NoToolName bool      // `name` is refused in results of tools
	NoUsage    bool      // `stream_options` is refused
	NoSchema   bool      // a schema is refused for it
	NoFormat   bool      // `json_object` is refused for the format of a reply
	KeepTools  bool      // tools stay when the reply may not call them, and tool_choice says so
	ToolChoice string    // sent with tools, if not empty
}

// Roles says in which order turns may stand.
type Roles struct {
	Join   bool // neighbours of one role are one turn
	Bridge bool // a line of the assistant stands between the result of a tool and a user's turn
	Lead   bool // the first turn after the system's is a user's
	Single bool // an assistant's turn has one call at most, followed by its result
}

// Reasoning says how a model's reasoning goes back to it.
type Reasoning string

// The ways. Opaque parts of a reply that its server marks as its own go back in all
// of them but ReasoningNone.
const (
	ReasoningOpaque     Reasoning = ""           // what the server marks
	ReasoningText       Reasoning = "text"       // reasoning_content as well, in every turn of the assistant
	ReasoningSignatures Reasoning = "signatures" // a signature in every call; one of another model gets Google's placeholder
	ReasoningNone       Reasoning = "none"       // nothing
)

var strictRoles = Roles{Join: true, Bridge: true, Lead: true, Single: true}

// Profiles is the table of known servers. The first that fits by host counts, then
// the first that fits by model, else the first of all. What each is based on stands
// with the fakes in package llmtest, and in docs/models.md.
var Profiles = []Profile{
	{Name: "openai", KeepTools: true},
	{Name: "azure", hosts: []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"}, KeepTools: true},
	{Name: "deepseek", hosts: []string{"api.deepseek.com"}, Reasoning: ReasoningText, NoSchema: true, KeepTools: true},
	{Name: "moonshot", hosts: []string{"api.moonshot.ai", "api.moonshot.cn"}, Reasoning: ReasoningText, NoSchema: true, KeepTools: true},
	{Name: "gemini", hosts: []string{"generativelanguage.googleapis.com", "aiplatform.googleapis.com"},
		Roles: Roles{Join: true, Lead: true}, Reasoning: ReasoningSignatures, NoSchema: true, NoFormat: true, KeepTools: true},
	{Name: "groq", hosts: []string{"api.groq.com"}, NoToolName: true, Reasoning: ReasoningNone},
	{Name: "mistral", hosts: []string{"api.mistral.ai"}, Roles: Roles{Join: true, Bridge: true, Lead: true}, ShortIDs: true, NoUsage: true, Reasoning: ReasoningNone, KeepTools: true},
	{Name: "xai", hosts: []string{"api.x.ai"}, NoToolName: true, KeepTools: true},
	{Name: "openrouter", hosts: []string{"openrouter.ai"}, KeepTools: true},
	{Name: "together", hosts: []string{"api.together.xyz", "api.together.ai"}, KeepTools: true},
	{Name: "bedrock", hosts: []string{".amazonaws.com"}, Roles: Roles{Join: true, Lead: true}, NoSchema: true, NoFormat: true, KeepTools: true},
	{Name: "lmstudio", Roles: Roles{Join: true, Bridge: true, Lead: true}, NoFormat: true, ToolChoice: "auto"},
	{Name: "llamacpp", Roles: Roles{Join: true, Bridge: true, Lead: true}},
	{Name: "vllm", Roles: Roles{Join: true, Bridge: true, Lead: true}, KeepTools: true},
	{Name: "deepseek-r1", models: []string{"deepseek-r1", "deepseek_r1"}, Roles: Roles{Join: true, Bridge: true, Lead: true}, Reasoning: ReasoningNone, NoSchema: true, NoFormat: true},
	{Name: "mistral-template", models: []string{"mistral", "mixtral", "ministral", "magistral", "devstral", "codestral"},
		Roles: Roles{Join: true, Bridge: true, Lead: true}, ShortIDs: true},
	{Name: "gemma-template", models: []string{"gemma"}, Roles: strictRoles},
	{Name: "gemini-gateway", models: []string{"gemini-3", "gemini-4"}, Roles: Roles{Join: true, Lead: true}, Reasoning: ReasoningSignatures, NoSchema: true, NoFormat: true, KeepTools: true},
	{Name: "bedrock-gateway", models: []string{"bedrock/", "anthropic.claude", "amazon.nova"}, Roles: Roles{Join: true, Lead: true}, NoSchema: true, NoFormat: true, KeepTools: true},
	{Name: "anthropic", Roles: Roles{Join: true, Lead: true}, KeepTools: true},
	{Name: "plain", Roles: strictRoles, ShortIDs: true, NoToolName: true, NoUsage: true, NoSchema: true, NoFormat: true, Reasoning: ReasoningNone},
}

// ProfileNames are the names in the order of the table.
func ProfileNames() []string {
	names := make([]string, len(Profiles))
	for i, p := range Profiles {
		names[i] = p.Name
	}
	return names
}

// ProfileNamed is the profile of that name, or the first.
func ProfileNamed(name string) Profile {
	return Profiles[max(slices.IndexFunc(Profiles, func(p Profile) bool { return p.Name == name }), 0)]
}

// ProfileFor is what a server on this host wants for this model.
func ProfileFor(host, model string) Profile {
	host, model = "."+strings.ToLower(host), strings.ToLower(model)
	fits := func(all func(Profile) []string, has func(string) bool) int {
		return slices.IndexFunc(Profiles, func(p Profile) bool { return slices.ContainsFunc(all(p), has) })
	}
	byHost := fits(func(p Profile) []string { return p.hosts }, func(end string) bool {
		return strings.HasSuffix(host, "."+strings.TrimPrefix(end, "."))
	})
	if byHost >= 0 {
		return Profiles[byHost]
	}
	byModel := fits(func(p Profile) []string { return p.models }, func(part string) bool { return strings.Contains(model, part) })
	return Profiles[max(byModel, 0)]
}

// Steps away from a profile. Each is learned from one refusal, or taken because a
// server refused a request for a reason that nothing names.
const (
	StepNoToolName    = "no_tool_name"
	StepNoUsage       = "no_stream_options"
	StepNoSchema      = "no_schema"
	StepNoFormat      = "no_format"
	StepNoToolChoice  = "no_tool_choice"
	StepKeepTools     = "keep_tools"
	StepShortIDs      = "short_ids"
	StepStrictRoles   = "strict_roles"
	StepReasoningText = "reasoning_text"
	StepSignatures    = "signatures"
	StepNoReasoning   = "no_reasoning"
	StepPlainFields   = "plain_fields"
	StepJSON          = "json" // of the whole conversation: calls are texts, see package handlers
)

var steps = map[string]func(*Profile){
	StepNoToolName:    func(p *Profile) { p.NoToolName = true },
	StepNoUsage:       func(p *Profile) { p.NoUsage = true },
	StepNoSchema:      func(p *Profile) { p.NoSchema = true },
	StepNoFormat:      func(p *Profile) { p.NoFormat = true },
	StepNoToolChoice:  func(p *Profile) { p.KeepTools, p.ToolChoice = false, "" },
	StepKeepTools:     func(p *Profile) { p.KeepTools = true },
	StepShortIDs:      func(p *Profile) { p.ShortIDs = true },
	StepStrictRoles:   func(p *Profile) { p.Roles, p.ShortIDs = strictRoles, true },
	StepReasoningText: func(p *Profile) { p.Reasoning = ReasoningText },
	StepSignatures:    func(p *Profile) { p.Reasoning = ReasoningSignatures },
	StepNoReasoning:   func(p *Profile) { p.Reasoning = ReasoningNone },
	StepPlainFields: func(p *Profile) {
		p.NoToolName, p.NoUsage, p.NoSchema, p.NoFormat, p.ToolChoice = true, true, true, true, ""
	},
	StepJSON: func(p *Profile) { p.Reasoning = ReasoningNone },
}

// Ladder is the order in which steps are tried against refusals that nothing names.
var Ladder = []string{StepStrictRoles, StepPlainFields, StepNoReasoning, StepReasoningText, StepJSON}

// With is the profile after steps. Unknown ones, of a newer program, change nothing.
func (p Profile) With(taken ...string) Profile {
	for _, name := range taken {
		if step := steps[name]; step != nil {
			step(&p)
		}
	}
	return p
}
