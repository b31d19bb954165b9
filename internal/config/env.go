package config

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// environment overrides the file by the variables of the environment.
func (d *decoder) environment(c *Config) {
	if v := d.override("TASK_SOURCE", "task_source"); v != "" {
		c.TaskSource = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	}
	d.forgeEnvironment(c)
	d.llmEnvironment(c)
	d.commentEnvironment(&c.NewCommentHandling)
	d.setBool("PROJECT_AGENT_RULES_ENABLED", "project_agent_rules.enabled", &c.ProjectAgentRules.Enabled)
	d.setInt("PROJECT_AGENT_RULES_MAX_FILE_SIZE", "project_agent_rules.limits.max_file_size", &c.ProjectAgentRules.Limits.MaxFileSize)
	d.setInt("PROJECT_AGENT_RULES_MAX_TOTAL_SIZE", "project_agent_rules.limits.max_total_size", &c.ProjectAgentRules.Limits.MaxTotalSize)
	d.setBool("PLANNING_ENABLED", "planning.enabled", &c.Planning.Enabled)
	if v := d.override("LOGS", "log.dir"); v != "" {
		if dir, err := filepath.Abs(filepath.Dir(v)); err == nil { // LOGS names a file, relative to where one stands
			c.Log.Dir = dir
		}
	}
	debug := false
	if d.setBool("DEBUG", "log.level", &debug); debug {
		c.Log.Level = "debug"
	}
	if v := d.override("GITHUB_MCP_COMMAND", "mcp_servers.command"); v != "" {
		d.githubCommand(c, strings.Fields(v))
	}
}

// forgeEnvironment overrides the first forge of each kind.
func (d *decoder) forgeEnvironment(c *Config) {
	for _, source := range []string{"github", "gitlab"} {
		if len(*c.section(source)) == 0 {
			continue
		}
		f, prefix := &(*c.section(source))[0], strings.ToUpper(source)+"_"
		d.setText(prefix+"PERSONAL_ACCESS_TOKEN", source+"[0].personal_access_token", &f.Token)
		d.setText(prefix+"API_URL", source+"[0].api_url", &f.APIURL)
		d.setText(prefix+"BOT_NAME", source+"[0].bot_name", &f.BotName)
	}
}

func (d *decoder) llmEnvironment(c *Config) {
	d.setText("LLM_PROVIDER", "llm.provider", &c.LLM.Provider)
	d.setText("OPENAI_BASE_URL", "llm.openai.base_url", &c.LLM.OpenAI.BaseURL)
	d.setText("OPENAI_MODEL", "llm.openai.model", &c.LLM.OpenAI.Model)
	d.setText("OPENAI_API_KEY", "llm.openai.api_key", &c.LLM.OpenAI.APIKey)
	d.setText("OLLAMA_ENDPOINT", "llm.ollama.endpoint", &c.LLM.Ollama.Endpoint)
	d.setText("OLLAMA_MODEL", "llm.ollama.model", &c.LLM.Ollama.Model)
	d.setText("LMSTUDIO_BASE_URL", "llm.lmstudio.base_url", &c.LLM.LMStudio.BaseURL)
	d.setText("LMSTUDIO_MODEL", "llm.lmstudio.model", &c.LLM.LMStudio.Model)
	tools := false
	if d.setBool("FUNCTION_CALLING", "llm.protocol", &tools) {
		c.LLM.Protocol = map[bool]string{true: "tools", false: "json"}[tools]
	}
}

func (d *decoder) commentEnvironment(n *NewCommentHandling) {
	const section = "new_comment_handling."
	d.setBool("NEW_COMMENT_ENABLED", section+"enabled", &n.Enabled)
	d.setBool("NEW_COMMENT_EXCLUDE_BOT", section+"exclude_bot_comments", &n.ExcludeBotComments)
	d.setBool("NEW_COMMENT_PERIODIC_CHECK", section+"periodic_check.enabled", &n.PeriodicCheck.Enabled)
	d.setInt("NEW_COMMENT_CHECK_INTERVAL", section+"periodic_check.interval", &n.PeriodicCheck.Interval)
	d.setInt("NEW_COMMENT_MAX_COMMENTS", section+"limits.max_comments", &n.Limits.MaxComments)
}

// githubCommand replaces the command of the server called github. It adds none:
// a server with a forge token is the operator's own decision.
func (d *decoder) githubCommand(c *Config, argv []string) {
	i := slices.IndexFunc(c.MCPServers, func(s MCPServer) bool { return s.Name == "github" })
	if i < 0 {
		d.warn(0, "GITHUB_MCP_COMMAND is ignored: no server in mcp_servers is called github")
		return
	}
	c.MCPServers[i].Command = argv
}

// override is the value of a variable, "" if it does not count.
func (d *decoder) override(name, path string) string {
	v := d.env(name)
	if v == "" {
		return ""
	}
	if !oneLine(v) {
		d.fail(0, "%s: holds a line break or control character", name)
		return ""
	}
	d.from[path] = name
	return v
}

func (d *decoder) setText(name, path string, to *string) {
	if v := d.override(name, path); v != "" {
		if *to != "" && *to != v && d.lines[path] > 0 {
			d.replaced[path] = name
		}
		*to = v
	}
}

// setBool tells whether the variable was set and readable.
func (d *decoder) setBool(name, path string, to *bool) bool {
	switch strings.ToLower(d.override(name, path)) {
	case "":
		return false
	case "true", "1", "yes", "on":
		*to = true
	case "false", "0", "no", "off":
		*to = false
	default:
		d.fail(0, "%s: must be true or false", name)
		return false
	}
	return true
}

func (d *decoder) setInt(name, path string, to *int) {
	v := d.override(name, path)
	if v == "" {
		return
	}
	i, err := strconv.Atoi(v)
	if err != nil {
		d.fail(0, "%s: must be a whole number", name)
		return
	}
	*to = i
}
