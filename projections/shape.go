package projections

import (
	"slices"

	"agent/eventlog/event"
	"agent/llm"
)

// Shape is how requests differ from the profile of the model server: the steps that
// its refusals led to.
type Shape struct {
	Steps  []string
	Tools  []string // native names of those that the server refused: they are left out
	proven int      // how many of them a reply has confirmed
}

func (sh *Shape) learn(steps []string) {
	for _, step := range steps {
		if !slices.Contains(sh.Steps, step) {
			sh.Steps = append(slices.Clip(sh.Steps), step)
		}
	}
}

// applyShape learns from replies, and takes the steps and changes that were decided.
func (s *State) applyShape(e event.Event) {
	switch b := e.Body.(type) {
	case *event.LLMReplied:
		s.Shape.learn(b.Shape)
		s.Shape.proven = len(s.Shape.Steps)
	case *event.LLMAdapted:
		if b.Tool != "" {
			s.withoutTool(b.Tool)
			return
		}
		if b.Step == llm.StepJSON && s.Work.ToolsRefused == 0 {
			s.Work.ToolsRefused = e.Seq
		}
		s.Shape.learn([]string{b.Step})
		s.Work.again()
	case *event.LLMSwitched:
		s.switched(e, b)
	case *event.ProcessStarted:
		if s.primary != nil {
			s.asks(s.primary)
			s.primary, s.fallbacks, s.Steps[StepConfig] = nil, 0, e.Seq
		}
	}
}

// withoutTool leaves a tool out. The server takes others: what it said of one is no
// reason to speak of all as text.
func (s *State) withoutTool(name string) {
	s.Shape.Tools = append(slices.Clip(s.Shape.Tools), name)
	if s.Work.ToolsRefused == s.Work.FailureSeq {
		s.Work.ToolsRefused = 0
	}
	s.Work.again()
}

// switched asks another model server until the process ends.
func (s *State) switched(e event.Event, b *event.LLMSwitched) {
	if s.Config == nil {
		return // not the log of a context
	}
	if s.primary == nil {
		s.primary = s.Config
	}
	other := *s.Config
	other.Provider, other.Model, other.ContextLength, other.Profile = b.Provider, b.Model, b.ContextLength, b.Profile
	s.asks(&other)
	s.fallbacks++
	s.Steps[StepConfig] = e.Seq
}

// asks takes another configuration into force. What was learned about one model
// server says nothing about another.
func (s *State) asks(c *event.ConfigPinned) {
	if old := s.Config; old != nil && (old.Provider != c.Provider || old.Model != c.Model || old.Profile != c.Profile) {
		s.Shape = Shape{}
		s.Work.ToolsRefused = 0
		s.Work.again()
	}
	s.Config = c
	s.Window.configured(c)
}

// Provider is which model server is asked, empty for the configured one.
func (s *State) Provider() string {
	if s.primary == nil && (s.Fork == nil || s.Fork.Model.Model == "") {
		return ""
	}
	return s.Config.Provider
}

// NextFallback is the model server to ask when the present one is out of service.
func (s *State) NextFallback() *event.Fallback {
	pinned := s.Config
	if s.primary != nil {
		pinned = s.primary
	}
	if all := pinned.Fallbacks(); s.fallbacks < len(all) {
		return &all[s.fallbacks]
	}
	return nil
}
