package config

import (
	"slices"
	"strings"

	"agent/internal/lazyregexp"
	"agent/internal/registry"
)

// aliases are other spellings of keys, from the path as written to the path from the same mapping.
var aliases = map[string][]string{
	"commentHandling":                     {"comment_handling"},
	"comment_handling.completionKeywords": {"completion_keywords"},
	"comment_handling.maxCommentCount":    {"max_comment_count"},
	"comment_handling.timeoutHours":       {"timeout_hours"},
	"new_comment_handling.max_comments":   {"limits", "max_comments"},
}

// obsolete are keys of earlier programs of this kind that no longer do anything.
var obsolete = map[string]string{
	"issue_to_mr_conversion": "see change_requests",
	"scheduling":             "see loop.interval_seconds",
	"continuous":             "see loop",

	"llm.function_calling":        "see llm.protocol",
	"pause_resume.check_interval": "",
	"pause_resume.paused_dir":     "",

	"context_storage.enabled":        "it is always on",
	"context_storage.base_dir":       "see contexts_dir",
	"context_storage.summary_prompt": "",

	"project_agent_rules.search":                  "AGENTS.md, CLAUDE.md and AGENT.md of the root are read",
	"project_agent_rules.limits.max_agent_files":  "",
	"project_agent_rules.limits.max_prompt_files": "",
	"project_agent_rules.limits.max_depth":        "",

	"planning.strategy":                    "",
	"planning.decomposition_level":         "",
	"planning.reflection.depth":            "",
	"planning.reflection.trigger_on_error": "it is always on",
	"planning.replanning.llm_decision.require_user_confirmation_on_low_confidence": "",
	"planning.replanning.goal_understanding.auto_assume_on_no_response":            "",
	"planning.replanning.goal_understanding.auto_assume_timeout_minutes":           "",
}

// obsoleteHint says what to use instead of a key that does nothing.
func obsoleteHint(path string) (hint string, ok bool) {
	if hint, ok = obsolete[path]; ok {
		return hint, ok
	}
	section, key, _ := strings.Cut(path, ".")
	if f, known := registry.Forge(section); known {
		hint, ok = f.Obsolete[key]
		return hint, ok
	}
	provider, key, _ := strings.Cut(key, ".")
	if _, known := registry.Provider(provider); known && section == "llm" && key == "max_token" {
		return "see llm." + provider + ".context_length", true
	}
	return "", false
}

var index = lazyregexp.New(`\[\d+\]`)

// plain is a path without list positions, as the tables above have it.
func plain(path string) string { return index.ReplaceAllString(path, "") }

// Words that people try, too far from the right key to look like it.
var (
	projectWords = []string{"repo", "repos", "repository", "repositories", "project", "projects"}
	urlWords     = []string{"base_url", "endpoint", "url"}
)

// synonym is the key of a section that is meant by another word, or "".
func synonym(section, key string) string {
	kind, isForge := registry.Forge(section)
	provider, isProvider := registry.Provider(strings.TrimPrefix(section, "llm."))
	switch {
	case isForge && slices.Contains(projectWords, key):
		return kind.ProjectsKey
	case isForge && key == "token":
		return "personal_access_token"
	case isProvider && slices.Contains(urlWords, key):
		return provider.URLKey
	case section == "mcp_servers" && key == "name":
		return "mcp_server_name"
	case section == "mcp_servers" && key == "args":
		return "command"
	}
	return ""
}

// freeKeys are the sections whose keys people choose themselves.
var freeKeys = lazyregexp.New(`^(llm\.prices|telemetry\.headers|(?:mcp_servers|notify)(?:\[\d+\])?\.(?:headers|env)|[a-z0-9_-]+(?:\[\d+\])?\.setup_commands)\..*`)

// shown is a path as people wrote it: a forge that is alone has no position. Keys
// of the people's own choice are left out, a value may stand in their place.
func shown(path string) string {
	return freeKeys.ReplaceAllString(strings.ReplaceAll(path, "[0]", ""), "$1.…")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// secretPath tells whether the value at a path is a secret by its place.
func secretPath(path string) bool {
	p := plain(path)
	if strings.HasPrefix(p, "mcp_servers.headers.") || strings.HasPrefix(p, "telemetry.headers.") || strings.HasPrefix(p, "notify.headers.") {
		return true
	}
	for _, section := range []string{"mcp_servers.env.", "notify.env."} {
		if name, ok := strings.CutPrefix(p, section); ok {
			return secretName(name)
		}
	}
	return strings.HasSuffix(p, ".personal_access_token") || strings.HasSuffix(p, ".api_key") || p == "webhooks.secret" || p == "notify.token" || addressPath(p)
}

// addressPath tells whether the value at a path is an address of which a part is secret.
func addressPath(path string) bool {
	p := plain(path)
	return p == "notify.url" || p == "notify.ntfy" || p == "notify.slack"
}

var secretWords = lazyregexp.New(`(?i)token|secret|passw|passphrase|credential|private|api_?key|access_?key|auth|(^|_)(key|pat|pwd)($|_)`)

func secretName(name string) bool { return secretWords.MatchString(name) }

var printableKey = lazyregexp.New(`^[A-Za-z_-]{1,32}$`)

// quoteKey shows a key only if it looks like one: a value may stand in its place.
func quoteKey(key string) string {
	if printableKey.MatchString(key) {
		return ` "` + key + `"`
	}
	return ""
}

// closest is the known word that is most like a wrong one, or "".
func closest(key string, known []string) string {
	if len(key) > 64 {
		return "" // nothing is as long, and the time grows with the square
	}
	best, least := "", max(2, len(key)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(key), k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the edits between two keys; a swap of neighbours counts as one.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
