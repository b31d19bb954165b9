package forge

import (
	"slices"
	"strings"

	"agent/internal/lazyregexp"
)

// machineLogin matches the logins of GitLab's accounts behind which nobody reads: access
// tokens, service accounts and its own. GitLab appends a number where a login was taken.
var machineLogin = lazyregexp.New(`(?i)^((project|group)_\d+_bot(_?[0-9a-z]+)?` +
	`|service_account_.+` +
	`|gitlab_security_policy_project_\d+_bot(_?[0-9a-z]+)?` +
	`|(support|alert|migration|automation|visual-review|suggested-reviewers)-bot\d*` +
	`|gitlab-(security|llm|admin)-bot\d*` +
	`|gitlabduo\d*)$`)

// appLogins are GitHub's own apps, as they are called where the ending [bot] is left out.
var appLogins = []string{"dependabot", "github-actions", "github-advanced-security", "copilot-pull-request-reviewer", "copilot-swe-agent"}

// IsMachine reports whether an account is known by its login to have nobody who reads
// behind it, on the forge of such items. Lists do not always say what an account is.
func (k Kind) IsMachine(login string) bool {
	switch k {
	case GitHubIssue, GitHubPullRequest:
		return strings.HasSuffix(login, "[bot]") || slices.Contains(appLogins, strings.ToLower(login))
	case GitLabIssue, GitLabMergeRequest:
		return machineLogin.MatchString(login)
	case FileTask: // nobody writes there but people
	}
	return false
}
