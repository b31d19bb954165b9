package suite

import (
	"strconv"
	"strings"
	"testing"

	"agent/forge"
	"agent/forge/forgetest"
)

// gitlabProject has what is hard to escape.
const gitlabProject = "group/sub.group/プロジェクト"

// GitLabIssue is a stage with a GitLab issue.
func GitLabIssue(t *testing.T) *Stage {
	return gitlab(t, forge.GitLabIssue, func(g *forgetest.GitLab, title, body, author string, labels ...string) *forgetest.Item {
		return g.AddIssue(gitlabProject, title, body, author, labels...)
	})
}

// GitLabMergeRequest is a stage with a GitLab merge request.
func GitLabMergeRequest(t *testing.T) *Stage {
	made := 0
	return gitlab(t, forge.GitLabMergeRequest, func(g *forgetest.GitLab, title, body, author string, labels ...string) *forgetest.Item {
		made++
		return g.AddMergeRequest(gitlabProject, title, body, author, "work-"+strconv.Itoa(made), "main", labels...)
	})
}

func gitlab(t *testing.T, kind forge.Kind, add func(g *forgetest.GitLab, title, body, author string, labels ...string) *forgetest.Item) *Stage {
	g := forgetest.NewGitLab()
	t.Cleanup(g.Close)
	g.AddToken(Token, Login)
	g.AddBot(Login)
	g.AddProject(gitlabProject, forgetest.Project{})
	item := add(g, "Title", "Body", "ann", "todo")
	key := func(i *forgetest.Item) forge.TaskKey {
		return forge.TaskKey{Host: g.Host(), Project: gitlabProject, Kind: kind, Number: i.IID()}
	}
	at := func(k forge.TaskKey) *forgetest.Item {
		if kind == forge.GitLabIssue {
			return g.Issue(gitlabProject, k.Number)
		}
		return g.MergeRequest(gitlabProject, k.Number)
	}
	levels := map[forge.Permission]int{
		forge.None: forgetest.NoAccess, forge.Read: forgetest.Reporter, forge.Write: forgetest.Developer, forge.Admin: forgetest.Maintainer,
	}
	return &Stage{
		URL: g.URL(), Project: gitlabProject, Key: key(item), Server: g, SetClock: g.SetClock, Nobody: "ghost", Clone: "http://" + g.Host() + "/" + gitlabProject + ".git",
		NewTask: func(title, body, author string, labels ...string) forge.TaskKey {
			return key(add(g, title, body, author, labels...))
		},
		Close:   func(k forge.TaskKey) { at(k).SetState("closed") },
		Comment: func(author, body string) string { return strconv.FormatInt(item.AddNote(author, body), 10) },
		Edit:    func(id, body string) { item.EditNote(parse(t, id), body) },
		Delete:  func(id string) { item.DeleteNote(parse(t, id)) },
		React: func(login, id string, e forge.Emoji) {
			item.React(parse(t, id), login, map[forge.Emoji]string{forge.ThumbsUp: "thumbsup", forge.Eyes: "eyes"}[e])
		},
		Rewrite: item.EditAs,
		Stored: func() (bodies []string) {
			for _, n := range item.Notes() {
				if !n.System {
					bodies = append(bodies, n.Body)
				}
			}
			return bodies
		},
		Labels:  item.Labels,
		Label:   func(name string) { item.AddLabels(name) },
		Unlabel: func(name string) { item.RemoveLabels(name) },
		LabelMade: func(name string) (string, string) {
			for _, l := range g.ProjectLabels(gitlabProject) {
				if l[0] == name {
					return strings.TrimPrefix(l[1], "#"), l[2]
				}
			}
			return "", ""
		},
		Permit:    func(login string, p forge.Permission) { g.SetAccess(gitlabProject, login, levels[p]) },
		CloseMade: func(n int) { g.MergeRequest(gitlabProject, n).SetState("closed") },
		Reviewers: func(n int) []string { return reviewers(g.MergeRequestList(gitlabProject), n) },
	}
}
