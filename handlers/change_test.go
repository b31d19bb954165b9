package handlers

import (
	"path/filepath"
	"strings"
	"testing"

	"agent/eventlog/event"
	"agent/forge"
	"agent/handlers/tell"
	"agent/internal/config"
	"agent/projections"
)

// publishing is a world in which the work is done in a clone.
func publishing(t *testing.T, m *event.ChangeMeasured, replies ...event.Body) *world {
	w := newWorld(t, "tools", replies...)
	w.cloned, w.measured = true, []*event.ChangeMeasured{m}
	w.change = &event.ChangeOpened{Number: 8, URL: "https://github.com/o/r/pull/8", Commit: "c1", Files: []string{"a.go"}, Reviewer: "alice"}
	w.state.Config.Change = event.ChangeRule{Enabled: true, Prefix: "agent/", Draft: true, MaxFiles: 3, MaxLines: 100, Binary: "ask", Protected: ".github/workflows/"}
	return w
}

func small() *event.ChangeMeasured {
	return &event.ChangeMeasured{Tree: "t1", Count: 1, Added: 2, Removed: 1, Files: []event.ChangedFile{{Path: "a.go", Added: 2, Removed: 1}}}
}

// TestChangeTranscripts plays the ways that a change can take.
func TestChangeTranscripts(t *testing.T) {
	test := native("ws__run_command", `{"argv":["go","test","./..."]}`)
	said := text("Fixed; the tests pass.")
	workflow := &event.ChangeMeasured{Tree: "t2", Count: 1, Added: 1, Files: []event.ChangedFile{{Path: ".github/workflows/ci.yml", Added: 1}}}
	for name, make := range map[string]func() *world{
		"change":         func() *world { return publishing(t, small(), test, said) },
		"change_nothing": func() *world { return publishing(t, &event.ChangeMeasured{Tree: "t0"}, said) },
		"change_new_inputs": func() *world {
			w := publishing(t, small(), said, text("Fixed in another way."), text("Fixed in a third way."))
			asked := event.Comment{ID: "1", Author: "alice", Verdict: event.NewComment, Body: event.T("Not like that.")}
			withdrawn := event.Comment{ID: "1", Author: "alice", Verdict: event.DeletedComment}
			w.comments = [][]event.Comment{nil, {asked}, {withdrawn}}
			return w
		},
		"change_edited": func() *world {
			w := publishing(t, small(), said, text("Fixed the other bug."))
			w.before["measured"] = []event.Body{&event.TaskChanged{What: "text", Title: "Another bug", Body: event.T("It is broken elsewhere.")}}
			return w
		},
		"change_held": func() *world {
			w := publishing(t, workflow, said)
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "command", Person: true}}}
			return w
		},
		"change_held_then_asked": func() *world {
			w := publishing(t, workflow, said, text("Taken back."))
			w.measured = append(w.measured, small())
			w.comments = [][]event.Comment{nil, nil, {{ID: "1", Author: "alice", Verdict: event.NewComment, Body: event.T("Leave the workflow alone.")}}}
			w.rests = [][]event.Body{{&event.ResumeRequested{By: "command", Person: true}}}
			return w
		},
		"change_refused": func() *world {
			w := publishing(t, small(), test, text("Fixed."))
			w.change = &event.ChangeFailed{Kind: "refused", Message: "protected branch", Commit: "c1", Patch: event.T("diff --git a/a.go b/a.go\n+```\n")}
			return w
		},
		"change_setup": func() *world {
			w := publishing(t, small(), said)
			w.state.Config.Setup = `["npm","ci"]` + "\n" + `["make","deps"]`
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := make()
			w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("exit code: 0\nok")}
			transcript := w.run()
			for _, b := range w.all {
				switch b := b.(type) {
				case *event.ChangeRequested:
					transcript += "\n--- " + b.Branch + " into " + b.Base + ", " + b.Title + "\n" + b.Body.Inline + "\n"
				case *event.CommentRequested:
					transcript += "\n--- " + b.Purpose + "\n" + b.Body.Inline + "\n"
				}
			}
			golden(t, filepath.Join("testdata", name+".txt"), transcript)
			wantPrefixes(t, w)
		})
	}
}

func TestNeedsApproval(t *testing.T) {
	list := ".github/workflows/\n.gitlab-ci.yml\nconfig/agent.yaml\n*.pem\n[bad\ndeploy/**\nteams/*/secrets/\nsrc/**/gen/{a,b}.go\n**/.husky/"
	for path, want := range map[string]bool{
		".github/workflows/ci.yml": true, ".GitHub/Workflows/x/y.yml": true, ".github/other": false, ".gitlab-ci.yml": true, "sub/.gitlab-ci.yml": true,
		"config/agent.yaml": true, "x/config/agent.yaml": false, "keys/a.pem": true, "a.pemx": false, "[bad": true,
		"deploy/a": true, "deploy/a/b/c.yaml": true, "x/deploy/a": false, "teams/a/secrets/b/c": true, "teams/a/b/secrets/c": false,
		"src/gen/a.go": true, "src/x/y/gen/b.go": true, "src/gen/c.go": false, "main.go": false, "cut…": true,
		".husky/pre-commit": true, "web/.husky/pre-commit": true, "web/husky/pre-commit": false, "x.husky": false,
		// links named like a protected directory, or like one above it
		".github/workflows": true, ".github": true, "Deploy": true, "web/.husky": true, ".git": false, "teams/a/secrets": true,
	} {
		if got := protected(path, list); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	if protected("cut…", "") {
		t.Error("nothing is protected, and a path is")
	}
	w := publishing(t, small())
	w.state.Publishing.Measured = &event.ChangeMeasured{Count: 4, Added: 60, Removed: 41, Files: []event.ChangedFile{
		{Path: "b", Kind: "binary"}, {Path: "s", Kind: "submodule"}, {Path: "l", Kind: "large"}, {Path: "link", Kind: "link"}}}
	if got := tell.ApprovalLines("en", approvalReasons(w.state)); len(got) != 5 {
		t.Errorf("reasons: %q", got)
	}
	w.state.Config.Change = event.ChangeRule{Binary: "allow"}
	if got := tell.ApprovalLines("en", approvalReasons(w.state)); len(got) != 2 {
		t.Errorf("reasons without limits: %q", got)
	}
}

// TestLongTitle: forges refuse a change whose title has more than 255 characters.
func TestLongTitle(t *testing.T) {
	w := publishing(t, small())
	w.state.Task = &event.TaskFetched{Title: strings.Repeat("長い", 128), Author: "alice"}
	w.state.Workspace = &event.WorkspacePrepared{Dir: "/x", Base: "main"}
	w.state.Publishing.Measured = small()
	if title := changeIntent(w.state, &projections.Ending{}).Title; len([]rune(title)) > 240 || !strings.HasSuffix(title, "い … (#7)") {
		t.Error(title)
	}
}

func TestBranchName(t *testing.T) {
	w := publishing(t, small())
	for title, want := range map[string]string{
		"Sum forgets the last number":   "agent/issue-7-sum-forgets-the-last-number-00000000",
		"../--x; rm -rf / `id` $(id)\n": "agent/issue-7-x-rm-rf-id-id-00000000", "合計が合わない": "agent/issue-7-00000000",
		strings.Repeat("long ", 20): "agent/issue-7-long-long-long-long-long-long-long-long-00000000", "ÄÖ 1.lock": "agent/issue-7-1-lock-00000000",
	} {
		w.state.Task = &event.TaskFetched{Title: title}
		if got := branchName(w.state); got != want {
			t.Errorf("%q: %s, want %s", title, got, want)
		}
	}
}

func TestBaseOf(t *testing.T) {
	for text, want := range map[string]string{
		"Fix it.\n\nBase: release-1.2\n": "release-1.2", "base branch: `dev`": "dev", "ベースブランチ：develop": "develop",
		"The base: is wrong": "", "Base: two words": "", "based: x": "", "": "",
	} {
		if got := BaseOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestKinds of tasks end differently.
func TestKinds(t *testing.T) {
	v := completes("done", "Fixed.", 1)
	for name, c := range map[string]struct {
		kind forge.Kind
		task event.TaskFetched
		want event.ChangeRequested
	}{
		"issue":   {forge.GitHubIssue, event.TaskFetched{Title: "A bug", Author: "alice"}, event.ChangeRequested{Branch: "agent/issue-7-a-bug-00000000", Reviewer: "alice"}},
		"ghost's": {forge.GitHubIssue, event.TaskFetched{Title: "A bug", Author: "ghost"}, event.ChangeRequested{Branch: "agent/issue-7-a-bug-00000000"}},
		"request": {forge.GitLabMergeRequest, event.TaskFetched{Branch: "topic", Author: "alice"}, event.ChangeRequested{Branch: "topic", Existing: true}},
		"fork's":  {forge.GitHubPullRequest, event.TaskFetched{Fork: true, Author: "alice"}, event.ChangeRequested{}},
	} {
		w := publishing(t, small())
		w.state.Key.Kind, w.state.Task, w.state.Publishing.Measured = c.kind, &c.task, small()
		w.state.Workspace = &event.WorkspacePrepared{Dir: "/w", Base: "main"}
		got := changeIntent(w.state, v)
		if got.Branch != c.want.Branch || got.Existing != c.want.Existing || got.Reviewer != c.want.Reviewer || got.Tree != "t1" {
			t.Errorf("%s: %+v", name, got)
		}
		if closes := strings.HasPrefix(got.Body.Inline, "Closes #7"); closes != (c.kind == forge.GitHubIssue) {
			t.Errorf("%s: %s", name, got.Body.Inline)
		}
	}
}

// The usual files that a CI service or an editor runs by itself are protected
// unless the configuration says otherwise; so is a link in their place.
func TestDefaultProtectedPaths(t *testing.T) {
	list := strings.Join(config.Default().ChangeRequests.ProtectedPaths, "\n")
	for _, path := range []string{
		".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "ci/Jenkinsfile", "azure-pipelines.yml", ".travis.yml",
		".buildkite/pipeline.yml", ".husky/pre-commit", ".vscode/tasks.json", "web/.vscode/settings.json", ".devcontainer/devcontainer.json", ".claude/settings.json", ".envrc", "sub/.envrc",
		".circleci", ".buildkite", ".husky", ".vscode", "web/.vscode", ".devcontainer", ".claude", ".github", ".gitlab", ".agent",
	} {
		if !protected(path, list) {
			t.Errorf("%s is not protected", path)
		}
	}
	for _, path := range []string{"main.go", "vscode/tasks.json", ".gitignore", "docs/husky.md", ".editorconfig"} {
		if protected(path, list) {
			t.Errorf("%s is protected", path)
		}
	}
}

// TestKept: every end keeps the work, and says where it is.
func TestKept(t *testing.T) {
	write := native("ws__run_command", `{"argv":["touch","a.go"]}`)
	unusable := text(`{"command":`)
	secret := &event.ChangeMeasured{Tree: "t3", Count: 1, Added: 1, Files: []event.ChangedFile{{Path: "a.go", Added: 1, Kind: "secret"}}}
	stop := []event.Body{&event.StopRequested{By: "command"}}
	for name, c := range map[string]struct {
		rule     string
		private  bool
		measured *event.ChangeMeasured
		replies  []event.Body
		stop     bool
		branch   string // "-": nothing is kept
	}{
		"limit, public":         {"", false, small(), []event.Body{write}, false, ""},
		"limit, private":        {"auto", true, small(), []event.Body{write}, false, "agent/issue-7-a-bug-00000000"},
		"limit, push":           {"push", false, small(), []event.Body{write}, false, "agent/issue-7-a-bug-00000000"},
		"limit, none":           {"none", false, small(), []event.Body{write}, false, "-"},
		"limit, nothing":        {"push", false, &event.ChangeMeasured{Tree: "t0"}, []event.Body{write}, false, "-"},
		"limit, unreadable":     {"push", false, &event.ChangeMeasured{Error: "no working copy"}, []event.Body{write}, false, "-"},
		"limit, needs approval": {"push", true, secret, []event.Body{write}, false, ""},
		"failed":                {"auto", true, small(), []event.Body{write, unusable}, false, "agent/issue-7-a-bug-00000000"},
		"stopped":               {"push", true, small(), []event.Body{write}, true, ""},
		"failed without a call": {"push", true, small(), []event.Body{unusable}, false, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			w := publishing(t, c.measured, c.replies...)
			w.state.Config.Change.Unfinished, w.state.Config.Limits.MaxCalls, w.private = c.rule, 8, c.private
			w.tools["ws/run_command"] = &event.ToolReplied{Content: event.T("exit code: 0\nok")}
			w.change = &event.ChangeOpened{Commit: "c1", Unfinished: true, Branch: c.branch}
			if strings.HasPrefix(name, "limit") {
				w.state.Config.Limits.MaxCalls = 1
			}
			if c.stop {
				w.before["2"] = stop
			}
			transcript, asked, last := w.run(), "-", ""
			for _, b := range w.all {
				switch b := b.(type) {
				case *event.ChangeRequested:
					if asked = b.Branch; !b.Unfinished || b.Existing || b.Tree != c.measured.Tree {
						t.Errorf("kept by %+v", b)
					}
				case *event.CommentRequested:
					last = b.Body.Inline
				}
			}
			if asked != c.branch || !w.state.Status.Ended() {
				t.Fatalf("kept on %q, want %q:\n%s", asked, c.branch, transcript)
			}
			said := map[string]string{"-": "", "": "`change.patch`"}[c.branch]
			if c.branch != "-" && c.branch != "" {
				said = "on the branch `" + c.branch + "`. No request was opened."
			}
			if !strings.Contains(last, said) || c.branch == "-" && strings.Contains(last, "unfinished work is") {
				t.Errorf("the last comment is\n%s", last)
			}
		})
	}
}
