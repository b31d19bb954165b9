package config

// Default is the configuration of an empty file, with paths not yet resolved.
func Default() *Config {
	c := &Config{
		TaskSource:       Strings{"github"},
		ContextsDir:      "$XDG_STATE_HOME/agent/contexts",
		WorkspacesDir:    "$XDG_STATE_HOME/agent/workspaces",
		MaxCloneMB:       4096,
		Language:         "auto",
		Workers:          2,
		MaxLLMProcessNum: 1000,
		AdoptWaitSeconds: 10,
		LLM:              defaultLLM(),
		MCPServers:       []MCPServer{defaultServer()},
		CommentHandling:  CommentHandling{MaxCommentCount: 10, TimeoutHours: 24},
		ContextStorage:   ContextStorage{CompressionThreshold: 0.7, KeepRecentMessages: 5, ArchiveAfterDays: 7},
		Planning:         defaultPlanning(),
		PauseResume:      PauseResume{Enabled: true, PausedTaskExpiryDays: 30},
		TaskStop:         TaskStop{Enabled: true, CheckInterval: 1, MinCheckIntervalSeconds: 30},
		ChangeRequests:   defaultChanges(),
		FileListContext:  FileListContext{Enabled: true, MaxDepth: -1},
		Loop:             Loop{IntervalSeconds: 30},
		Log:              Log{Dir: "$XDG_STATE_HOME/agent/logs", Level: "info"},
	}
	defaultComments(&c.NewCommentHandling)
	defaultInheritance(&c.ContextInheritance)
	c.ProjectAgentRules.Enabled = true
	c.ProjectAgentRules.Limits.MaxFileSize, c.ProjectAgentRules.Limits.MaxTotalSize = 102_400, 512_000
	return c
}

func defaultChanges() ChangeRequests {
	return ChangeRequests{Enabled: true, BranchPrefix: "agent/", Draft: true, MaxFiles: 100, MaxLines: 5000, Binary: "ask",
		ProtectedPaths: []string{".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".gitlab/", ".gitmodules", "CODEOWNERS", ".mcp.json", ".agent/"}}
}

func defaultLLM() LLM {
	return LLM{
		Provider:       "openai",
		Protocol:       "auto",
		TimeoutSeconds: 600,
		OpenAI:         OpenAI{BaseURL: "https://api.openai.com/v1", Model: "gpt-4o", ContextLength: 128000},
		Ollama:         Ollama{Endpoint: "http://127.0.0.1:11434", Model: "qwen3-coder", ContextLength: 32768},
		LMStudio:       LMStudio{BaseURL: "http://127.0.0.1:1234/v1", ContextLength: 32768},
	}
}

// defaultServer is the built-in workspace server.
func defaultServer() MCPServer {
	s := blankServer()
	s.Name = "workspace"
	s.Command = []string{"agent", "mcp", "workspace", "--root", "{workspace}"}
	return s
}

// blankServer is what an entry of mcp_servers starts from.
func blankServer() MCPServer {
	return MCPServer{TimeoutSeconds: 120, Network: "on"}
}

// fillSandbox keeps in what runs the model's commands, and leaves servers that
// the operator chose as they are, unless the file says otherwise.
func fillSandbox(servers []MCPServer) {
	for i := range servers {
		s := &servers[i]
		switch {
		case s.Sandbox != "":
		case len(s.Command) > 2 && s.Command[0] == "agent" && s.Command[1] == "mcp" && s.Command[2] == "workspace":
			s.Sandbox = "auto"
		default:
			s.Sandbox = "off"
		}
	}
}

func defaultForge(kind string) Forge {
	f := Forge{
		Kind:            kind,
		APIURL:          "https://api.github.com",
		BotLabel:        "coding agent",
		ProcessingLabel: "coding agent processing",
		DoneLabel:       "coding agent done",
		PausedLabel:     "coding agent paused",
		StoppedLabel:    "coding agent stopped",
		FailedLabel:     "coding agent failed",
		AwaitingLabel:   "coding agent awaiting response",
		TasksVia:        "api",
		CommentsVia:     "api",
		WriteIntervalMS: 1000,
	}
	if kind == "gitlab" {
		f.APIURL = "https://gitlab.com/api/v4"
	}
	return f
}

func defaultComments(n *NewCommentHandling) {
	n.Enabled, n.ExcludeBotComments, n.Accept = true, true, "auto"
	n.PeriodicCheck.Interval = 10
	n.Limits.MaxComments = 50
	n.NotificationFormat.Language, n.NotificationFormat.DetailLevel = "auto", "full"
}

func defaultInheritance(i *ContextInheritance) {
	i.Enabled, i.ContextExpiryDays, i.MaxInheritedTokens = true, 90, 8000
	i.Planning.InheritPlans, i.Planning.InheritVerifications, i.Planning.InheritReflections = true, true, true
	i.Planning.MaxPreviousPlans, i.Planning.ReuseSuccessfulPatterns = 3, true
}
