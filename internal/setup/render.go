package setup

import (
	"strconv"
	"strings"

	"agent/internal/config"
	"agent/internal/i18n"
)

// render gives the file: the answers, and the settings that people change first,
// with their defaults. All values are quoted: they come from people.
func (a *Answers) render() string {
	var y yamlText
	note := func(id i18n.ID) { y.comment("", a.text(id)) }
	note("init.c.head")
	y.line("task_source: " + a.Forge)
	y.line("language: " + a.Lang)
	y.comment("", a.text("init.c.envfile"))
	y.line("env_file: " + envFile)
	y.line("")
	note("init.c.forge")
	a.renderForge(&y)
	y.line("")
	note("init.c.llm")
	a.renderModel(&y)
	y.line("")
	note("init.c.limits")
	y.line(a.limits())
	y.line(config.Starter("max_llm_process_num"))
	y.line("")
	note("init.c.servers")
	y.line("mcp_servers:")
	y.line("  - mcp_server_name: workspace")
	y.line(`    command: [agent, mcp, workspace, --root, "{workspace}"]`)
	if a.Sandbox == "off" {
		y.comment("    ", a.text("init.c.sandbox"))
		y.line("    sandbox: off")
	}
	y.line("")
	note("init.c.comments")
	y.line(config.Starter("new_comment_handling"))
	y.line("")
	note("init.c.changes")
	y.line(config.Starter("change_requests"))
	y.line("")
	note("init.c.loop")
	y.line(config.Starter("workers"))
	y.line(config.Starter("loop"))
	return y.String()
}

func (a *Answers) renderForge(y *yamlText) {
	y.line(a.Forge + ":")
	y.line("  api_url: " + quoted(a.ForgeURL))
	y.line(`  personal_access_token: "${` + a.TokenEnv + `}"`)
	y.line("  " + a.driver().ProjectsKey + ":")
	for _, r := range a.Projects {
		y.line("    - " + quoted(r))
	}
	if a.BotName != "" {
		y.line("  bot_name: " + quoted(a.BotName))
	}
	y.comment("  ", a.text("init.c.labels"))
	y.line("  " + config.Starter(a.Forge+".bot_label"))
	y.comment("  ", a.text("init.c.workspace"))
	y.line("  workspace: " + quoted(a.Workspace))
}

func (a *Answers) renderModel(y *yamlText) {
	d := a.provider()
	y.line("llm:")
	y.line("  provider: " + d.Name)
	y.line("  " + config.Starter("llm.protocol"))
	y.line("  " + config.Starter("llm.timeout_seconds"))
	y.line("  " + d.Name + ":")
	y.line("    " + d.URLKey + ": " + quoted(a.BaseURL))
	switch {
	case !d.Key:
	case config.Loopback(a.BaseURL): // it may do without a key
		y.line(`    api_key: "${` + d.KeyEnv() + `:-}"`)
	default:
		y.line(`    api_key: "${` + d.KeyEnv() + `}"`)
	}
	y.line("    model: " + quoted(a.Model))
	y.comment("    ", a.text("init.c.window"))
	y.line("    context_length: " + strconv.Itoa(d.ContextLength))
	y.comment("  ", a.text("init.c.prices"))
	y.line("  prices: {}")
}

// limits are the defaults, but for those that were asked for.
func (a *Answers) limits() string {
	line := config.Starter("limits")
	for key, value := range map[string]string{"max_tokens": a.MaxTokens, "max_cost_usd": a.MaxCostUSD} {
		if value != "" {
			line = strings.Replace(line, key+": 0", key+": "+value, 1)
		}
	}
	return line
}

// yamlText is a file being written.
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
