package suite

import (
	"strconv"
	"testing"

	"agent/forge"
	"agent/forge/forgetest"
)

const project = "o/r"

// GitHubIssue is a stage with a GitHub issue.
func GitHubIssue(t *testing.T) *Stage {
	return github(t, forge.GitHubIssue, func(s *forgetest.Server, title, body, author string, labels ...string) int {
		return s.AddIssue(project, title, body, author, labels...)
	})
}

// GitHubPullRequest is a stage with a GitHub pull request.
func GitHubPullRequest(t *testing.T) *Stage {
	made := 0
	return github(t, forge.GitHubPullRequest, func(s *forgetest.Server, title, body, author string, labels ...string) int {
		made++
		return s.AddPullRequest(project, title, body, author, "work-"+strconv.Itoa(made), "main", labels...)
	})
}

func github(t *testing.T, kind forge.Kind, add func(s *forgetest.Server, title, body, author string, labels ...string) int) *Stage {
	s := forgetest.New()
	t.Cleanup(s.Close)
	s.AddToken(Token, Login)
	s.AddBot(Login)
	s.AddRepository(project, forgetest.Repository{})
	number := add(s, "Title", "Body", "ann", "todo")
	key := func(n int) forge.TaskKey {
		return forge.TaskKey{Host: s.Host(), Project: project, Kind: kind, Number: n}
	}
	roles := map[forge.Permission]string{forge.None: "none", forge.Read: "read", forge.Write: "write", forge.Admin: "admin"}
	return &Stage{
		URL: s.URL(), Project: project, Key: key(number), Server: s, SetClock: s.SetClock, Nobody: "ghost", Clone: "http://" + s.Host() + "/" + project + ".git",
		NewTask: func(title, body, author string, labels ...string) forge.TaskKey {
			return key(add(s, title, body, author, labels...))
		},
		Close: func(k forge.TaskKey) { s.CloseIssue(project, k.Number) },
		Comment: func(author, body string) string {
			return strconv.FormatInt(s.AddComment(project, number, author, body), 10)
		},
		Edit:   func(id, body string) { s.EditComment(project, parse(t, id), body) },
		Delete: func(id string) { s.DeleteComment(project, parse(t, id)) },
		React: func(login, id string, e forge.Emoji) {
			s.React(project, parse(t, id), login, map[forge.Emoji]string{forge.ThumbsUp: "+1", forge.Eyes: "eyes"}[e])
		},
		Rewrite: func(login, title, body string) { s.EditIssueAs(project, number, login, title, body) },
		Stored: func() (bodies []string) {
			for _, c := range s.Comments(project, number) {
				bodies = append(bodies, c.Body)
			}
			return bodies
		},
		Labels:    func() []string { return s.Labels(project, number) },
		Label:     func(name string) { s.AddLabels(project, number, name) },
		Unlabel:   func(name string) { s.RemoveLabels(project, number, name) },
		LabelMade: func(name string) (string, string) { return s.RepositoryLabel(project, name) },
		Permit:    func(login string, p forge.Permission) { s.SetPermission(project, login, roles[p]) },
		CloseMade: func(n int) { s.CloseIssue(project, n) },
		Reviewers: func(n int) []string { return reviewers(s.PullRequests(project), n) },
	}
}

func parse(t *testing.T, id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
