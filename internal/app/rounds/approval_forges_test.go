package rounds_test

import (
	"fmt"
	"testing"
	"time"

	"agent/forge/forgetest"
)

// hub is a fake forge with one labelled issue of a public project, as people use it.
type hub interface {
	section() string // of the configuration
	slash() bool     // whether a command may begin with a slash
	open(title string)
	say(login, text string) (id int64)
	edit(id int64, text string)
	react(login string, id int64, thumb bool)
	unreact(login string, id int64)
	reactions(id int64) []string
	permit(login string)
	rewrite(login, text string)
	relabel(login string)
	comments() (all []said)
	commentPath() string
	fault(forgetest.Fault)
	clock(func() time.Time)
}

// said is a comment.
type said struct {
	id           int64
	author, body string
}

type onHub struct {
	s *forgetest.Server
	n int
}

func newOnHub(t *testing.T) hub {
	s := forgetest.New()
	t.Cleanup(s.Close)
	s.AddToken(botToken, botLogin)
	s.AddRepository("o/r", forgetest.Repository{})
	h := &onHub{s: s}
	h.open("Greet")
	h.n = 1
	return h
}

func (h *onHub) section() string {
	return fmt.Sprintf("task_source: github\ngithub: {api_url: '%s', personal_access_token: %s, bot_name: %s, repositories: [o/r]}\n", h.s.URL(), botToken, botLogin)
}
func (h *onHub) slash() bool { return true }
func (h *onHub) open(title string) {
	n := h.s.AddIssue("o/r", title, "Please greet.", "alice")
	h.s.SetPermission("o/r", "bob", "write")
	h.s.AddLabelsAs("o/r", n, "bob", label)
}
func (h *onHub) say(login, text string) int64 { return h.s.AddComment("o/r", h.n, login, text) }
func (h *onHub) edit(id int64, text string)   { h.s.EditComment("o/r", id, text) }
func (h *onHub) react(login string, id int64, thumb bool) {
	h.s.React("o/r", id, login, map[bool]string{true: "+1", false: "eyes"}[thumb])
}
func (h *onHub) unreact(login string, id int64) { h.s.Unreact("o/r", id, login, "+1") }
func (h *onHub) reactions(id int64) []string    { return h.s.Reactions("o/r", id) }
func (h *onHub) permit(login string)            { h.s.SetPermission("o/r", login, "write") }
func (h *onHub) rewrite(login, text string)     { h.s.EditIssueAs("o/r", h.n, login, "Greet", text) }
func (h *onHub) relabel(login string) {
	h.s.RemoveLabels("o/r", h.n, label)
	h.s.AddLabelsAs("o/r", h.n, login, label)
}
func (h *onHub) comments() (all []said) {
	for n := 1; n <= 2; n++ {
		if n == 1 || h.n > 1 {
			for _, c := range h.s.Comments("o/r", n) {
				all = append(all, said{c.ID, c.Author, c.Body})
			}
		}
	}
	return all
}
func (h *onHub) commentPath() string      { return ".*/issues/[0-9]+/comments" }
func (h *onHub) fault(f forgetest.Fault)  { h.s.Fault(f) }
func (h *onHub) clock(f func() time.Time) { h.s.SetClock(f) }

type onLab struct {
	g    *forgetest.GitLab
	item *forgetest.Item
}

func newOnLab(t *testing.T) hub { return labWith(t, forgetest.Project{}) }

func labWith(t *testing.T, p forgetest.Project) hub {
	g := forgetest.NewGitLab()
	t.Cleanup(g.Close)
	g.AddToken(botToken, botLogin)
	g.AddProject("o/r", p)
	h := &onLab{g: g}
	h.open("Greet")
	return h
}

func (h *onLab) section() string {
	return fmt.Sprintf("task_source: gitlab\ngitlab: {api_url: '%s', personal_access_token: %s, bot_name: %s, projects: [o/r]}\n", h.g.URL(), botToken, botLogin)
}
func (h *onLab) slash() bool { return false }
func (h *onLab) open(title string) {
	item := h.g.AddIssue("o/r", title, "Please greet.", "alice")
	h.g.SetAccess("o/r", "bob", forgetest.Developer)
	item.AddLabelsAs("bob", label)
	if h.item == nil {
		h.item = item
	}
}
func (h *onLab) say(login, text string) int64 { return h.item.AddNote(login, text) }
func (h *onLab) edit(id int64, text string)   { h.item.EditNote(id, text) }
func (h *onLab) react(login string, id int64, thumb bool) {
	h.item.React(id, login, map[bool]string{true: "thumbsup", false: "eyes"}[thumb])
}
func (h *onLab) unreact(login string, id int64) { h.item.Unreact(id, login, "thumbsup") }
func (h *onLab) reactions(id int64) []string    { return h.item.Reactions(id) }
func (h *onLab) permit(login string)            { h.g.SetAccess("o/r", login, forgetest.Developer) }
func (h *onLab) rewrite(login, text string)     { h.item.EditAs(login, "Greet", text) }
func (h *onLab) relabel(login string) {
	h.item.RemoveLabels(label)
	h.item.AddLabelsAs(login, label)
}
func (h *onLab) comments() (all []said) {
	for _, i := range []*forgetest.Item{h.item} {
		for _, n := range i.Notes() {
			if !n.System {
				all = append(all, said{n.ID, n.Author, n.Body})
			}
		}
	}
	return all
}
func (h *onLab) commentPath() string      { return ".*/issues/[0-9]+/notes" }
func (h *onLab) fault(f forgetest.Fault)  { h.g.Fault(f) }
func (h *onLab) clock(f func() time.Time) { h.g.SetClock(f) }
