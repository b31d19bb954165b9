package browser

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"agent/contexts"
	"agent/internal/fsx"
	"agent/internal/i18n"
	"agent/internal/page"
	"agent/internal/report"
	"agent/internal/tui"
)

// terminal writes what the browser in the terminal shows after some keys as a page, and
// gives its address.
func terminal(t *testing.T, store *contexts.Store, uuid string, keys ...string) string {
	t.Helper()
	m := tui.New(tui.Options{Store: store, UUID: uuid, Lang: i18n.En, Colors: true, Now: time.Now, Redact: func(s string) string { return s }})
	var run func(tea.Cmd)
	run = func(c tea.Cmd) {
		if c == nil {
			return
		}
		said := make(chan tea.Msg, 1)
		go func() { said <- c() }()
		select {
		case msg := <-said:
			if all, ok := msg.(tea.BatchMsg); ok {
				for _, c := range all {
					run(c)
				}
				return
			}
			_, next := m.Update(msg)
			run(next)
		case <-time.After(300 * time.Millisecond): // it waits for time to pass
		}
	}
	columns, rows := 100, 10
	if len(keys) > 0 {
		columns, rows = 120, 24
	}
	m.Update(tea.WindowSizeMsg{Width: columns, Height: rows})
	run(m.Init())
	for _, k := range keys {
		press := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		if k == "enter" {
			press = tea.KeyPressMsg{Code: tea.KeyEnter}
		}
		_, next := m.Update(press)
		run(next)
	}
	name := filepath.Join(t.TempDir(), "terminal.html")
	must(t, os.WriteFile(name, []byte(asHTML(m.View().Content)), 0o600))
	return "file://" + name
}

var colored = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// asHTML is a screen with its colours.
func asHTML(text string) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><meta charset="utf-8"><style>body{margin:0;padding:10px 12px;background:#10141a;color:#d7dde4}pre{margin:0;font:13.5px/1.42 "DejaVu Sans Mono",monospace}` +
		`.c1{font-weight:bold}.c2{color:#8a949e}.c7{background:#33415a;color:#fff}.c31{color:#ff7b72}.c32{color:#56d364}.c33{color:#e3b341}.c34{color:#79b8ff}.c35{color:#d2a8ff}.c36{color:#76e3ea}</style><pre>`)
	open := 0
	last := 0
	for _, at := range colored.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(html.EscapeString(text[last:at[0]]))
		last = at[1]
		if code := cmp.Or(text[at[2]:at[3]], "0"); code == "0" {
			b.WriteString(strings.Repeat("</span>", open))
			open = 0
		} else {
			fmt.Fprintf(&b, `<span class="c%s">`, strings.ReplaceAll(code, ";", " c"))
			open++
		}
	}
	b.WriteString(html.EscapeString(text[last:]) + strings.Repeat("</span>", open) + "</pre>")
	return b.String()
}

// TestScreenshots writes the pictures of the documentation, from the context of a demo.
func TestScreenshots(t *testing.T) {
	demo := os.Getenv("AGENT_DEMO")
	if *shots == "" || demo == "" {
		t.Skip("make screenshots")
	}
	fsys, err := fsx.OpenOS(filepath.Join(demo, "contexts"))
	must(t, err)
	store, err := contexts.Open(fsys, contexts.Options{ReadOnly: true})
	must(t, err)
	all, err := report.List(store)
	must(t, err)
	longest := all[0]
	for _, l := range all {
		if l.ToolCalls > longest.ToolCalls {
			longest = l
		}
	}
	doc, err := page.Of(store, longest.UUID, i18n.En, nil)
	must(t, err)
	name := filepath.Join(t.TempDir(), "run.html")
	must(t, doc.WriteFile(name, io.Discard))
	at := serve(t, store)
	for _, shot := range []struct {
		name, address string
		dark          bool
		width, height int64
		prepare       string
	}{
		{"terminal-list.png", terminal(t, store, ""), true, 860, 230, "1"},
		{"terminal.png", terminal(t, store, longest.UUID, "n", "enter"), true, 1000, 500, "1"},
		{"page-light.png", "file://" + name, false, 900, 850, "1"},
		{"page-dark.png", "file://" + name, true, 900, 620, `document.querySelector(".k-tool.failed").open = true; for (const e of document.querySelectorAll(".file")) { e.parentElement.open = true; }; document.querySelector("#timeline").scrollIntoView(); 1`},
		{"browser-list.png", at + "/", false, 1000, 420, "1"},
		{"browser-beside.png", at + "/compare?c=" + all[0].UUID + "&c=" + all[len(all)-1].UUID, true, 1100, 640, "1"},
	} {
		b := open(t, shot.address)
		scheme := "light"
		if shot.dark {
			scheme = "dark"
		}
		command(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		command(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: shot.width, Height: shot.height, DeviceScaleFactor: 1})
		js[int](b, shot.prepare)
		b.run(chromedp.Sleep(200 * time.Millisecond))
		picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		must(t, err)
		if len(picture) > 150<<10 || !bytes.HasPrefix(picture, []byte("\x89PNG")) {
			t.Errorf("%s has %d bytes", shot.name, len(picture))
		}
		must(t, os.WriteFile(filepath.Join(*shots, shot.name), picture, 0o644))
		b.close()
	}
}
