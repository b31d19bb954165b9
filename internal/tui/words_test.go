package tui

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/config"
	"agent/internal/export"
	"agent/internal/i18n"
	htmlpage "agent/internal/page"
	"agent/internal/report"
	"agent/internal/show"
	"agent/internal/term"
	"agent/internal/viewer"
	"agent/internal/webui"
)

// A state, what is waited for and a cost are the same words wherever people read them: in agent
// list, inspect, stats, the exports, the page, the list of the server and the terminal. What
// something cost is "–" if it is not known, and never 0.00.
func TestSameWordsEverywhere(t *testing.T) {
	const price = 0.25
	for i, c := range []struct {
		state, waits string
		bodies       []event.Body
	}{
		{report.Interrupted, "", nil},
		{contexts.StatePaused, "person", []event.Body{&event.ContextPaused{Reason: "limit", Until: event.Until{Kind: "person"}}}},
		{contexts.StatePaused, "signal", []event.Body{&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "signal"}}}},
		{contexts.StateAwaiting, "", []event.Body{&event.ContextAwaiting{Until: event.Until{Time: time.Now()}}}},
		{contexts.StateCompleted, "", []event.Body{&event.ContextCompleted{Reason: "done"}}},
		{"stopped", "", []event.Body{&event.ContextStopped{Reason: "closed"}}},
		{"failed", "", []event.Body{&event.ContextFailed{Reason: "workspace"}}},
	} {
		w := newWorld(t)
		id, cost := fmt.Sprintf("4444%04x-0000-4000-8000-000000000001", i), price*float64(i%2)
		w.context(id, "t", append([]event.Body{&event.LLMRequested{Purpose: "work", Model: "m"}, &event.LLMReplied{Text: event.T("I do it"), Usage: event.Usage{Prompt: 7}, CostUSD: cost}}, c.bodies...)...)
		must(t, w.log.Relocate())
		must(t, w.log.Close())
		for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
			for where, text := range w.everywhere(id, lang) {
				state, usd := i18n.Standing(lang, c.state, c.waits, false), i18n.USD(cost)
				plain := strings.Join(strings.Fields(text), " ")
				if where == "markdown" {
					state = i18n.State(lang, c.state)
				}
				if where != "stats" && !strings.Contains(plain, state) { // which counts outcomes
					t.Errorf("%s, %s: no %q in %s", where, lang, state, text)
				}
				if where == "inspect" && cost == 0 { // in a sentence
					usd = i18n.Money(lang, 0)
				}
				if where != "list" && !strings.Contains(plain, usd) || strings.Contains(plain, " 0.00") {
					t.Errorf("%s, %s: no cost %q in %s", where, lang, usd, text)
				}
			}
		}
	}
}

// everywhere is what the surfaces show of a context.
func (w *world) everywhere(id string, lang i18n.Lang) map[string]string {
	t := w.t
	t.Helper()
	shown := map[string]string{}
	source := report.Source{Store: w.store, Config: &config.Config{}, Lang: lang, Now: time.Now(), Warn: func(error) {}}
	print := func(name string, with func(*show.Printer)) {
		var out bytes.Buffer
		with(&show.Printer{Source: source, Screen: term.Screen{Writer: &out, Width: 200}})
		shown[name] = out.String()
	}
	all, err := report.List(w.store)
	must(t, err)
	print("list", func(p *show.Printer) { p.List(all) })
	print("stats", func(p *show.Printer) { p.Stats(source.Stats("context", time.Time{})) })
	print("inspect", func(p *show.Printer) { viewer.Log{Store: w.store, UUID: id}.Header(p.Screen, lang, false) })

	doc, err := htmlpage.Of(w.store, id, lang, nil)
	must(t, err)
	cost := slices.IndexFunc(doc.Facts, func(f htmlpage.Fact) bool { return f.Label == i18n.Text(lang, "page.cost") })
	shown["page"] = doc.StateText + " " + doc.Facts[cost].Value

	var out bytes.Buffer
	must(t, export.Source{Store: w.store, UUID: id, Lang: lang}.Write(&out, "markdown"))
	shown["markdown"] = out.String()

	server, err := webui.New(source, webui.Options{Address: "127.0.0.1:0"})
	must(t, err)
	pages := httptest.NewUnstartedServer(nil)
	pages.Config.Handler = server.Handler(pages.Listener.Addr().String())
	pages.Start()
	defer pages.Close()
	answer, err := http.Get(pages.URL + "/")
	must(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	shown["server"] = string(body)

	w.browse(100, 24, lang)
	shown["terminal"] = w.screen()
	return shown
}
