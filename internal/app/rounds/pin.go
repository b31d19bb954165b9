package rounds

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agent/eventlog/event"
	"agent/handlers/prompt"
	"agent/internal/app"
	"agent/internal/config"
	"agent/projections"
)

// progressMS is the least time between two edits of a progress comment.
const progressMS = 10_000

// pin gives everything of the configuration that decisions may depend on.
func (s *Rounds) pin(at app.Site, project string) event.ConfigPinned {
	c, f := s.Config, at.Config
	active := c.LLM.Active()
	template := prompt.SystemTemplate
	if s.SystemPrompt != "" {
		template = s.SystemPrompt
	}
	sum := sha256.Sum256([]byte(template))
	pinned := event.ConfigPinned{
		Provider: active.Name, Profile: c.Profile(active), Fallback: fallbacks(c), Model: active.Model, ContextLength: active.ContextLength,
		Protocol: c.LLM.Protocol, Language: c.Language, Bot: f.BotName, Setup: setupOf(f, project), Hash: c.Hash(),
		Prompt: s.SystemPrompt, PromptHash: hex.EncodeToString(sum[:]), ProgressMS: progressMS,
		Labels: event.Labels{Bot: f.BotLabel, Triggers: strings.Join(f.TriggerLabels, "\n"), Processing: f.ProcessingLabel, Done: f.DoneLabel, Paused: f.PausedLabel,
			Stopped: f.StoppedLabel, Failed: f.FailedLabel, Awaiting: f.AwaitingLabel},
		Limits: event.Limits{MaxCalls: c.MaxLLMProcessNum, MaxTokens: c.Limits.MaxTokens,
			MaxCostUSD: c.Limits.MaxCostUSD, MaxMinutes: c.Limits.MaxMinutes, RepeatedCalls: c.RepeatedCallLimit},
		Storage:  event.Storage{Threshold: c.ContextStorage.CompressionThreshold, Keep: c.ContextStorage.KeepRecentMessages},
		Change:   changeRule(c.ChangeRequests, f),
		Comments: commentRule(c.NewCommentHandling),
		Commands: event.CommandRule{Enabled: c.Commands.Enabled, Slash: !f.Driver.QuickActions, Reactions: !f.Driver.Local},
		Project: event.ProjectRule{Rules: c.ProjectAgentRules.Enabled, MaxFile: c.ProjectAgentRules.Limits.MaxFileSize,
			MaxTotal: c.ProjectAgentRules.Limits.MaxTotalSize, Files: c.FileListContext.Enabled, MaxDepth: c.FileListContext.MaxDepth},
		Inherit: event.Inherit{Enabled: c.ContextInheritance.Enabled, ExpiryDays: c.ContextInheritance.ContextExpiryDays,
			MaxTokens: c.ContextInheritance.MaxInheritedTokens},
		FollowUp: event.FollowUp{Enabled: c.CommentHandling.Enabled, Keywords: strings.Join(c.CommentHandling.CompletionKeywords, "\n"),
			MaxRounds: c.CommentHandling.MaxCommentCount, TimeoutHours: c.CommentHandling.TimeoutHours},
		Planning: s.planning(),
	}
	if config.Loopback(f.APIURL) {
		pinned.ProgressMS = 0
	}
	return pinned
}

// pinned is pin for a context. One that is unserved keeps what it has: it only stops.
func (s *Rounds) pinned(at app.Site, state *projections.State) event.ConfigPinned {
	if _, served := s.Site(at.Host); !served && state.Config != nil {
		return *state.Config
	}
	return s.pin(at, state.Key.Project)
}

// fallbacks are the other model servers, one a line.
func fallbacks(c *config.Config) string {
	var lines []string
	for _, p := range c.LLM.Others() {
		line, _ := json.Marshal(event.Fallback{Provider: p.Name, Model: p.Model, ContextLength: p.ContextLength, Profile: c.Profile(p)}) // texts and a number always are one
		lines = append(lines, string(line))
	}
	return strings.Join(lines, "\n")
}

func changeRule(r config.ChangeRequests, f config.Forge) event.ChangeRule {
	return event.ChangeRule{Enabled: r.Enabled && f.Workspace == "", Prefix: r.BranchPrefix, Draft: r.Draft, Base: r.Base,
		MaxFiles: r.MaxFiles, MaxLines: r.MaxLines, Binary: r.Binary, Protected: strings.Join(r.ProtectedPaths, "\n"), Unfinished: r.Unfinished}
}

// setupOf are the commands for a project, a JSON list of arguments a line.
func setupOf(f config.Forge, project string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(f.SetupCommands)) {
		if !strings.EqualFold(name, project) {
			continue
		}
		for _, argv := range f.SetupCommands[name] {
			line, _ := json.Marshal(argv) // a list of texts is always one
			lines = append(lines, string(line))
		}
	}
	return strings.Join(lines, "\n")
}

func commentRule(n config.NewCommentHandling) event.CommentRule {
	rule := event.CommentRule{Enabled: n.Enabled, ExcludeBots: n.ExcludeBotComments, Accept: n.Accept,
		Max: n.Limits.MaxComments, Detail: n.NotificationFormat.DetailLevel, Notify: n.NotifyFetchFailure}
	if language := n.NotificationFormat.Language; language != "auto" {
		rule.Language = language
	}
	if n.PeriodicCheck.Enabled {
		rule.Interval = n.PeriodicCheck.Interval
	}
	return rule
}
