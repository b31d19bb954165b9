package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agent/internal/exhaustive"
	"agent/llm/llmtest"
)

// writes counts the accepted requests of a kind to the comments of the item.
func (c *talk) writes(method string) (n int) {
	path := regexp.MustCompile("/(comments|notes)(/[0-9]+)?$")
	for _, r := range c.requests() {
		if r.Method == method && path.MatchString(r.Path) && r.Status/100 == 2 {
			n++
		}
	}
	return n
}

// edits counts the edits of comments.
func (c *talk) edits() int { return c.writes("PATCH") + c.writes("PUT") }

// TestProgress wants one comment that grows in its place while the work goes on
// without a plan; the closing words stand in the final one alone.
func TestProgress(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		c := newTalk(t, kind, longer())
		c.agent(0, "run")
		l := c.wantState("completed", doneLabel)
		said := c.said()
		want := "🤖 **The work has ended**: ✅ completed\n\n- I look around.\n- I write the file.\n- I read it again.\n- I run a check.\n\nModel calls: 5 · tool calls: 4"
		if len(said) != 2 || said[0] != want || !strings.Contains(said[1], "I wrote hello.txt.") {
			t.Errorf("the comments are\n%s", strings.Join(said, "\n=====\n"))
		}
		if c.writes("POST") != 2 || c.edits() != 4 {
			t.Errorf("%d comments were written and %d edited", c.writes("POST"), c.edits())
		}
		markers := regexp.MustCompile(`<!-- agent op=[0-9a-f-]{36}:[0-9]+ mac=[0-9a-f]{32} -->$`)
		for _, body := range c.raw() {
			ours := slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(body, s) })
			if ours && (strings.Count(body, "<!--") != 1 || !markers.MatchString(body)) {
				t.Errorf("no marker at the end, or several: %s", body)
			}
		}
		for _, r := range c.model.Requests() {
			if r.Contains("Working on it") || r.Contains("has ended") {
				t.Errorf("the model was told of its own comment:\n%s", r.Last().Content)
			}
		}
		c.wantExact(l.UUID)
	})
}

// deletedAt deletes the first comment of the bot before the n-th reply.
func deletedAt(n int, remove func(), script llmtest.Script) llmtest.Script {
	return func(i int, r llmtest.Request) llmtest.Reply {
		if i == n {
			remove()
		}
		return script(i, r)
	}
}

// TestProgressIsDeleted wants the comment that somebody deleted back, whole.
func TestProgressIsDeleted(t *testing.T) {
	t.Parallel()
	for _, kind := range exhaustive.Sample(forges, 2) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var script later
			c := newTalk(t, kind, script.play)
			script.script = deletedAt(2, c.deleteFirst, longer())
			c.agent(0, "run")
			l := c.wantState("completed", doneLabel)
			if all := c.wantSaid(1, "🤖 **The work has ended**"); strings.Count(all, "\n- ") != 4 {
				t.Errorf("the comment is\n%s", all)
			}
			c.wantExact(l.UUID)
		})
	}
}

// deleteFirst deletes the first comment.
func (c *talk) deleteFirst() {
	switch g := c.thread.(type) {
	case *onGitHub:
		g.w.forge.DeleteComment(testRepo, g.w.forge.Comments(testRepo, g.number)[0].ID)
	case *onGitLab:
		g.item.DeleteNote(g.item.Notes()[0].ID)
	}
}

// TestPlanProgress wants of a whole plan one comment for each phase and the
// plan, or one in all, or one for each call. The numbers of the calls go on after a pause.
func TestPlanProgress(t *testing.T) {
	t.Parallel()
	heads := regexp.MustCompile(`(?m)^## ✅ (.*) - LLM呼び出し #([0-9]+)`)
	for mode, want := range exhaustive.SampleMap(map[string]func(c *talk, said []string){
		"phase": func(c *talk, said []string) {
			var phases []string
			for _, m := range heads.FindAllStringSubmatch(strings.Join(said, "\n"), -1) {
				phases = append(phases, m[1])
			}
			slices.Sort(phases)
			if want := "アクション実行 リフレクション 再計画判断 検証 計画作成 計画修正"; strings.Join(phases, " ") != want || len(said) != 8 {
				c.t.Errorf("phases %q in %d comments, want %q", phases, len(said), want)
			}
			c.wantSaid(1, "## 📋 実行計画")
			c.wantSaid(1, "## ❌ エラー発生 - `workspace/read_file`") // the latest of pre-planning
		},
		"task": func(c *talk, said []string) {
			all := c.wantSaid(1, "# 🤖 タスク実行進捗")
			if len(said) != 1 || !strings.Contains(all, "**状態**: ✅ 完了") || strings.Count(all, "**sign**") != 1 || !strings.Contains(all, "計画前情報収集 #1: ") {
				c.t.Errorf("%d comments:\n%s", len(said), all)
			}
		},
		"call": func(c *talk, said []string) {
			var calls []int
			for _, m := range heads.FindAllStringSubmatch(strings.Join(said, "\n"), -1) {
				n, err := strconv.Atoi(m[2])
				must(c.t, err)
				calls = append(calls, n)
			}
			// 3 is the assumption, which is not announced; the call that the pause cut off counts for limits only.
			if len(calls) < 10 || !slices.Equal(calls[:4], []int{1, 2, 4, 5}) || !slices.IsSorted(calls) || len(slices.Compact(slices.Clone(calls))) != len(calls) {
				c.t.Errorf("calls %d", calls)
			}
			c.wantSaid(1, "## 📋 実行計画")
		},
	}, 2) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := newTalk(t, forges[len(mode)%2], hanging(4, planner))
			c.extra = fmt.Sprintf("language: ja\nplanning: {enabled: true, reflection: {trigger_interval: 3}, llm_call_comments: {mode: %s}}", mode)
			c.pauseIn(5)
			c.agent(0, "run")
			l := c.wantState("completed", doneLabel)
			c.wantSaid(1, "⏸️")
			c.wantSaid(1, "▶️ **再開")
			c.wantSaid(1, "✅ **完了しました**")
			said := slices.DeleteFunc(c.said(), func(s string) bool {
				return strings.HasPrefix(s, "⏸️") || strings.HasPrefix(s, "▶️") || strings.HasPrefix(s, "✅")
			})
			want(c, said)
			if t.Failed() {
				t.Log(strings.Join(said, "\n=====\n"))
			}
			c.wantExact(l.UUID)
		})
	}
}
