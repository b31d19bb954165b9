package main

import (
	"strconv"
	"strings"

	"agent/internal/config"
	"agent/internal/i18n"
)

// render gives the file: what was asked for, and the settings that people change
// first, with their defaults. All values are quoted: they come from people.
func (s *setup) render() string {
	var y yamlText
	note := func(id i18n.ID) { y.comment("", i18n.Text(s.tongue(), id)) }
	note("init.c.head")
	y.line("task_source: " + s.kind())
	y.line("language: " + s.Lang)
	y.line("")
	note("init.c.forge")
	s.renderForge(&y)
	y.line("")
	note("init.c.llm")
	s.renderModel(&y)
	y.line("")
	note("init.c.limits")
	y.line("limits: {max_tokens: 0, max_cost_usd: 0, max_minutes: 0, max_tokens_per_day: 0, max_cost_usd_per_day: 0}")
	y.line("max_llm_process_num: 1000")
	y.line("")
	note("init.c.servers")
	y.line("mcp_servers:")
	y.line("  - mcp_server_name: workspace")
	y.line(`    command: [agent, mcp, workspace, --root, "{workspace}"]`)
	y.line("")
	note("init.c.comments")
	y.line("new_comment_handling: {enabled: true, accept: auto}")
	y.line("")
	note("init.c.changes")
	y.line("change_requests: {enabled: true, branch_prefix: agent/, draft: true}")
	y.line("")
	note("init.c.rest")
	y.line("workers: 2")
	y.line("loop: {interval_seconds: 30}")
	return y.String()
}

func (s *setup) renderForge(y *yamlText) {
	list := "repositories"
	if s.kind() == "gitlab" {
		list = "projects"
	}
	y.line(s.kind() + ":")
	y.line("  api_url: " + quoted(s.ForgeURL))
	y.line(`  personal_access_token: "${` + s.TokenEnv + `}"`)
	y.line("  " + list + ":")
	for _, r := range s.Repos {
		y.line("    - " + quoted(r))
	}
	if s.BotName != "" {
		y.line("  bot_name: " + quoted(s.BotName))
	}
	y.comment("  ", i18n.Text(s.tongue(), "init.c.labels"))
	y.line("  bot_label: coding agent")
	y.comment("  ", i18n.Text(s.tongue(), "init.c.workspace"))
	y.line("  workspace: " + quoted(s.Workspace))
}

func (s *setup) renderModel(y *yamlText) {
	d := config.Default().LLM
	d.Provider = s.Provider
	y.line("llm:")
	y.line("  provider: " + s.Provider)
	y.line("  protocol: auto")
	y.line("  timeout_seconds: 600")
	y.line("  " + s.Provider + ":")
	key := "base_url"
	if s.Provider == "ollama" {
		key = "endpoint"
	}
	y.line("    " + key + ": " + quoted(s.BaseURL))
	switch {
	case s.Provider != "openai":
	case config.Loopback(s.BaseURL): // it may do without a key
		y.line(`    api_key: "${` + s.KeyEnv + `:-}"`)
	default:
		y.line(`    api_key: "${` + s.KeyEnv + `}"`)
	}
	y.line("    model: " + quoted(s.Model))
	y.comment("    ", i18n.Text(s.tongue(), "init.c.window"))
	y.line("    context_length: " + strconv.Itoa(d.Active().ContextLength))
	y.comment("  ", i18n.Text(s.tongue(), "init.c.prices"))
	y.line("  prices: {}")
}

// yamlText is a file in the making.
type yamlText struct{ strings.Builder }

func (y *yamlText) line(s string) { y.WriteString(s + "\n") }

// comment writes a text of one or more lines as comments.
func (y *yamlText) comment(indent, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		y.line(indent + "# " + line)
	}
}

// quoted is a value in double quotes, with $ doubled: nothing in it is a reference.
func quoted(s string) string { return strconv.Quote(strings.ReplaceAll(s, "$", "$$")) }
