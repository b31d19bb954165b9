package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/fsx"
	"agent/internal/i18n"
	"agent/internal/page"
	"agent/internal/page/pagetest"
	"agent/internal/report"
	"agent/internal/snapshot"
	"agent/internal/webui"
)

var shots = flag.String("screenshots", "", "write the screenshots of the documentation to this directory")

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// browser starts Chromium for all tests, once.
var browser = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, errors.New("there is no chromium: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("no-first-run", true))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	return ctx, chromedp.Do(ctx)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if ctx, err := browser(); err == nil {
		_ = chromedp.Cancel(ctx) // it ends with us anyway
	}
	os.Exit(code)
}

// tab is a page in the browser, with what it should not do.
type tab struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	bad []string
}

// open opens an address. Violations of the policy, exceptions, dialogs and requests to
// anywhere else than the address fail the test.
func open(t *testing.T, address string) *tab {
	t.Helper()
	root, err := browser()
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := chromedp.NewContext(root)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	origin := address[:strings.Index(address, "://")+3]
	if !strings.HasPrefix(address, "file:") {
		origin += strings.SplitN(address[len(origin):], "/", 2)[0]
	}
	must(t, chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *audits.EventIssueAdded:
			if ev.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
				data, _ := json.Marshal(ev.Issue.Details)
				b.note("CSP: " + string(data))
			}
		case *runtime.EventExceptionThrown:
			b.note("exception: " + ev.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if ev.Entry.Source == "security" || ev.Entry.Level == "error" && !strings.Contains(ev.Entry.URL, "favicon") {
				b.note("log: " + ev.Entry.Text + " " + ev.Entry.URL)
			}
		case *cdppage.EventJavascriptDialogOpening:
			b.note("dialog: " + ev.Message)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(ev.Request.URL, origin) && !strings.HasPrefix(ev.Request.URL, "about:") {
				b.note("request: " + ev.Request.URL)
			}
		}
	}))
	command(b, audits.Enable, cdp.Empty{})
	b.run(chromedp.Navigate(address))
	return b
}

func (b *tab) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = append(b.bad, what)
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, actions...))
}

// command sends a command to the browser.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	v, err := chromedp.Call(b.ctx, c, params)
	must(b.t, err)
	return v
}

// js evaluates an expression.
func js[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	must(b.t, err)
	return v
}

// until waits for an expression to become true.
func (b *tab) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); !js[bool](b, "Boolean("+expression+")"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("never: %s", expression)
		}
	}
}

// close fails the test if the page did what it should not.
func (b *tab) close() {
	b.t.Helper()
	b.run(chromedp.Sleep(100 * time.Millisecond)) // what was set off shows
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.bad {
		b.t.Errorf("%.500s", what)
	}
}

// storeOf writes events to a real log. The context stays open.
func storeOf(t *testing.T, n int, title string, store *contexts.Store, bodies ...event.Body) (*contexts.Store, func(...event.Body), func()) {
	t.Helper()
	if store == nil {
		fsys, err := fsx.OpenOS(filepath.Join(t.TempDir(), "contexts"))
		must(t, err)
		store, err = contexts.Open(fsys, contexts.Options{})
		must(t, err)
	}
	at := start
	c, err := store.Create(&event.ContextCreated{Format: event.Format, UUID: id(n), TaskKey: fmt.Sprintf("github.com/acme/widgets/issues/%d", n+1), Forge: "github.com",
		Kind: "github_issue", Title: title, User: "alice", Trigger: "label"}, at)
	must(t, err)
	open := uint64(0)
	add := func(bodies ...event.Body) {
		for _, b := range bodies {
			at = at.Add(time.Second)
			ev := event.Event{Time: at, Body: b}
			if _, saved := b.(*event.WorkspaceSaved); saved || event.RoleOf(b) == event.Outcome {
				ev.Cause = open
			}
			written, err := c.Append(ev)
			must(t, err)
			if event.RoleOf(b) == event.Intent {
				open = written.Seq
			}
		}
	}
	add(bodies...)
	return store, add, func() { must(t, c.Close()) }
}

func id(n int) string { return fmt.Sprintf("1111%04x-0000-4000-8000-000000000001", n) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fileOf writes the page of a context to a file and gives its address.
func fileOf(t *testing.T, title string, bodies ...event.Body) (address string, size int) {
	t.Helper()
	store, _, end := storeOf(t, 0, title, nil, bodies...)
	end()
	doc, err := page.Of(store, id(0), i18n.En, nil)
	must(t, err)
	name := filepath.Join(t.TempDir(), "run.html")
	must(t, doc.WriteFile(name, io.Discard))
	info, err := os.Stat(name)
	must(t, err)
	return "file://" + name, int(info.Size())
}

// Nothing that a log holds runs, is loaded, or is even refused by the policy: it is text.
func TestHostilePages(t *testing.T) {
	for i, evil := range append(pagetest.Hostile, strings.Repeat("</script><img src=x onerror=document.title='owned'>\x1b]0;x\a", 20_000)) {
		if len(evil) > 100<<10 {
			evil = evil[:1<<20-8<<10]
		}
		bodies := pagetest.Everywhere(evil)
		if len(evil) > 100<<10 { // a line has room for one of these
			bodies = []event.Body{&event.ToolRequested{Server: "w", Tool: "t"}, &event.ToolReplied{Content: event.T(evil[:200<<10])}, &event.Unknown{Name: "brand.new", Data: fmt.Appendf(nil, `{"x":%s}`, quoted(evil[:600<<10]))}}
			evil = "a line of 1 MB"
		}
		address, _ := fileOf(t, evil, bodies...)
		b := open(t, address)
		if title := js[string](b, "document.title"); title == "owned" || !strings.HasSuffix(title, " · agent") {
			t.Errorf("%d: the title is %q", i, title)
		}
		if n := js[int](b, `document.querySelectorAll("script").length`); n != 1 {
			t.Errorf("%d: %d scripts", i, n)
		}
		if !js[bool](b, `document.documentElement.classList.contains("scripted")`) {
			t.Errorf("%d: our script did not run", i)
		}
		js[int](b, `for (const e of document.querySelectorAll("*")) for (const n of ["mouseover", "focus", "click"]) if (e.tagName !== "A" && e.tagName !== "INPUT" && e.tagName !== "BUTTON") e.dispatchEvent(new Event(n, {bubbles: true})); 1`)
		if title := js[string](b, "document.title"); title == "owned" {
			t.Errorf("%d: an event ran it", i)
		}
		if i == 0 && !js[bool](b, `document.body.textContent.includes("<script>document.title='owned'</script>")`) {
			t.Error("the text is not shown")
		}
		b.close()
	}
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// The policy is real: what a page would try is refused and reported.
func TestPolicyIsInForce(t *testing.T) {
	address, _ := fileOf(t, "Greet")
	b := open(t, address)
	js[int](b, `{const s = document.createElement("img"); s.src = "https://example.com/x.png"; document.body.append(s);} 1`)
	b.run(chromedp.Sleep(300 * time.Millisecond))
	b.mu.Lock()
	defer b.mu.Unlock()
	if !strings.Contains(strings.Join(b.bad, "\n"), "CSP") {
		t.Errorf("nothing was reported: %q", b.bad)
	}
}

// The page of a run of 200 steps is small and opens at once. The time is told, not tested.
func TestLongRun(t *testing.T) {
	address, size := fileOf(t, "A long task", pagetest.Long(200, 8<<10)...)
	b := open(t, address)
	b.until(`performance.getEntriesByType("navigation")[0].loadEventEnd > 0`)
	took := js[float64](b, `performance.getEntriesByType("navigation")[0].loadEventEnd`)
	paint := js[float64](b, `(performance.getEntriesByName("first-contentful-paint")[0] || {startTime: 0}).startTime`)
	t.Logf("a page of 200 steps: %d bytes, loaded in %.0f ms, first paint after %.0f ms", size, took, paint)
	if size > 3<<20 {
		t.Errorf("%d bytes", size)
	}
	// Where the money went: the sum, and a bar that leads to its step.
	if total := js[string](b, `document.querySelector("tr.total").innerText`); !strings.Contains(total, "2.00") {
		t.Errorf("the total is %q", total)
	}
	js[int](b, `document.querySelectorAll("#charts figure")[1].querySelectorAll("svg a")[99].dispatchEvent(new MouseEvent("click", {bubbles: true})); 1`)
	b.until(`location.hash === "#s100" && document.querySelector("#s100").open && document.querySelector("#s100").checkVisibility()`)
	b.close()
}

// How a file looked before and after a step: the row of the call has both.
func TestBeforeAndAfter(t *testing.T) {
	store, add, end := storeOf(t, 0, "Twelve steps", nil, &event.ProcessStarted{})
	objects, err := snapshot.OpenStore(store.Objects(id(0)))
	must(t, err)
	dir, base := t.TempDir(), snapshot.NewTree(1, nil)
	files, err := snapshot.NewCopy(dir, objects, base, base, nil, snapshot.Options{Largest: 1 << 20})
	must(t, err)
	for n := range 12 {
		must(t, os.WriteFile(filepath.Join(dir, "sum.go"), fmt.Appendf(nil, "package sum\n\n// line %d\nfunc Of() {}\n", n+1), 0o600))
		add(&event.LLMRequested{Purpose: "work", Model: "big", Attempt: 1}, &event.LLMReplied{Text: event.T("On."), Finish: "tool_calls"}, &event.ToolRequested{Server: "workspace", Tool: "edit_file"})
		saved, err := files.Save(t.Context(), snapshot.Request{})
		must(t, err)
		add(&event.WorkspaceSaved{Reason: "tool", Tree: saved.Tree, From: saved.From, Base: "c0ffee", Count: 1, Added: 1, Removed: 1, Files: []event.SavedFile{{Path: "sum.go", Change: "modified", Added: 1, Removed: 1}}}, &event.ToolReplied{Content: event.T("done")})
	}
	end()
	doc, err := page.Of(store, id(0), i18n.En, nil)
	must(t, err)
	name := filepath.Join(t.TempDir(), "run.html")
	must(t, doc.WriteFile(name, io.Discard))
	b := open(t, "file://"+name)
	shown := func(view string) string {
		t.Helper()
		return js[string](b, `(() => { const f = [...document.querySelectorAll(".file")].find(f => f.textContent.includes("line 12")); f.closest("details").open = true; f.closest(".step").open = true; f.querySelector("input[value=`+view+`]").click(); return f.querySelector("pre").innerText; })()`)
	}
	if diff := shown("diff"); !strings.Contains(diff, "line 11") || !strings.Contains(diff, "line 12") {
		t.Errorf("the diff is %q", diff)
	}
	if before := shown("before"); !strings.Contains(before, "line 11") || strings.Contains(before, "line 12") || !strings.HasPrefix(before, "package sum") {
		t.Errorf("before it was %q", before)
	}
	if after := shown("after"); strings.Contains(after, "line 11") || !strings.Contains(after, "line 12") || !strings.HasPrefix(after, "package sum") {
		t.Errorf("after it was %q", after)
	}
	// The summary leads to the file.
	js[int](b, `document.querySelector("#close").click(); [...document.querySelectorAll("#changes a")].filter(a => a.textContent === "sum.go").at(-1).click(); 1`)
	b.until(`document.querySelector(location.hash + " pre").checkVisibility() && document.querySelector(location.hash).innerText.includes("line 12")`)
	// A step is found by its name or its number; step 1 is not step 12.
	for _, c := range [][2]string{{"12", `document.querySelector("#s12").open && document.querySelector("#s12 .row").checkVisibility()`},
		{"Step 1", `document.querySelector("#s1 .row").checkVisibility() && !document.querySelector("#s12").checkVisibility() && document.querySelector("#hits").textContent === "1 match"`}} {
		js[int](b, `document.querySelector("#search").value = "`+c[0]+`"; document.querySelector("#search").dispatchEvent(new Event("input")); 1`)
		b.until(c[1])
	}
	js[int](b, `document.querySelector("#search").value = "step 99"; document.querySelector("#search").dispatchEvent(new Event("input")); 1`)
	b.until(`document.querySelector("#hits").textContent === "no match"`)
	b.close()
}

// A person who never saw the program finds what they look for by clicking.
func TestPersonFinds(t *testing.T) {
	store := demoRun(t)
	doc, err := page.Of(store, id(0), i18n.En, nil)
	must(t, err)
	name := filepath.Join(t.TempDir(), "run.html")
	must(t, doc.WriteFile(name, io.Discard))
	b := open(t, "file://"+name)
	// Which call failed, and its full output.
	js[int](b, `document.querySelector(".two .refs a").click(); 1`)
	b.until(`document.querySelector(location.hash).open && document.querySelector(location.hash).innerText.includes("want 6, got 3")`)
	// What the model was told after the resume.
	js[int](b, `[...document.querySelectorAll(".refs a")].find(a => a.textContent.includes("what the model was told")).click(); 1`)
	b.until(`document.querySelector(location.hash).innerText.includes("Which line was it?")`)
	// Why it paused.
	if !js[bool](b, `document.querySelector(".two").innerText.includes("the pause signal is set")`) {
		t.Error("it is not said why it paused")
	}
	// Search unfolds what it finds and hides the rest.
	b.run(chromedp.SendKeys(chromedp.CSS("#search"), "got 3"))
	b.until(`document.querySelector("#hits").textContent === "1 match"`)
	if n := js[int](b, `[...document.querySelectorAll("main .row")].filter(e => e.checkVisibility()).length`); n != 1 {
		t.Errorf("%d rows fit the search", n)
	}
	js[int](b, `document.querySelector("#search").value = ""; document.querySelector("#search").dispatchEvent(new Event("input")); 1`)
	b.until(`document.querySelector("#hits").textContent === ""`)
	// A link lifts the filter for what it leads to; Enter goes to the next match.
	js[int](b, `document.querySelector("#failed").click(); 1`)
	b.until(`document.querySelector("#hits").textContent === "2 matches" && [...document.querySelectorAll(".row.at, .msg.at")].length === 1`)
	js[int](b, `document.querySelector("#marks a").click(); 1`)
	b.until(`document.querySelector(location.hash).checkVisibility() && document.querySelector(location.hash).getBoundingClientRect().height > 0`)
	before := js[string](b, `document.querySelector(".at").id`)
	b.run(chromedp.SendKeys(chromedp.CSS("#search"), "\r"))
	b.until(`document.querySelector(".at").id !== "` + before + `" && document.querySelector(".at").getBoundingClientRect().top < innerHeight`)
	js[int](b, `document.querySelector("#failed").click(); 1`)
	if n := js[int](b, `[...document.querySelectorAll("[id]")].length - new Set([...document.querySelectorAll("[id]")].map(e => e.id)).size`); n != 0 {
		t.Errorf("%d ids are there twice", n)
	}
	// Fold and unfold.
	b.run(chromedp.Click(chromedp.CSS("#close")))
	if n := js[int](b, `[...document.querySelectorAll("#timeline .row")].filter(e => e.checkVisibility()).length`); n > 5 {
		t.Errorf("%d rows are there after folding", n)
	}
	b.run(chromedp.Click(chromedp.CSS("#open")))
	b.until(`[...document.querySelectorAll("main details")].every(e => e.open)`)
	b.close()
	// A link to a row leads to it, and it is painted.
	last := js[string](open(t, "file://"+name), `[...document.querySelectorAll("#timeline details.row")].at(-1).id`)
	b = open(t, "file://"+name+"#"+last)
	b.until(`(() => { const e = document.querySelector(location.hash), r = e.getBoundingClientRect(); return e.open && e.contains(document.elementFromPoint(r.x + 20, r.y + 10)); })()`)
	b.close()
}

// The page of a running context grows in the browser, without a violation of the policy.
func TestLivePage(t *testing.T) {
	store, add, end := storeOf(t, 0, "Greet the world", nil, pagetest.Long(2, 100)...)
	at := serve(t, store)
	b := open(t, at+"/c/"+id(0))
	add(&event.LLMRequested{Purpose: "work", Model: "big"})
	b.until(`document.querySelector("#waits").innerText.includes("waits for the model")`)
	b.until(`document.querySelector("#live .k-model.open") !== null`)
	add(&event.LLMReplied{Text: event.T("<img src=x onerror=document.title='owned'> done")})
	b.until(`document.querySelector("#live .k-model.done") !== null`)
	add(&event.ContextCompleted{Reason: "done"})
	end()
	b.until(`document.querySelector("#state").className === "state completed" && document.querySelector("#live").dataset.ended === "yes"`)
	if n := js[int](b, `document.querySelectorAll("#live .k-model").length`); n != 1 {
		t.Errorf("%d rows for one call", n)
	}
	if title := js[string](b, "document.title"); title == "owned" {
		t.Error("a row ran something")
	}
	b.close()
	for _, path := range []string{"/", "/stats?by=tool", "/compare?c=" + id(0) + "&c=" + id(0), "/c/" + id(0) + "/e/6"} {
		b := open(t, at+path)
		if !js[bool](b, `document.documentElement.classList.contains("scripted") && getComputedStyle(document.body).maxWidth !== "none"`) {
			t.Errorf("%s: script or style sheet are not there", path)
		}
		b.close()
	}
}

func serve(t *testing.T, store *contexts.Store) string {
	t.Helper()
	server, err := webui.New(report.Source{Store: store, Lang: i18n.En, Now: time.Now(), Warn: func(error) {}}, webui.Options{Address: "127.0.0.1:0"})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	address := make(chan string, 1)
	go func() { _ = server.Serve(ctx, func(url string) { address <- url }) }()
	return strings.TrimSuffix(<-address, "/")
}

// demoRun is a run that a person may ask something about.
func demoRun(t *testing.T) *contexts.Store {
	reply := func(text string, calls ...string) event.Body {
		r := &event.LLMReplied{Text: event.T(text), Finish: "stop", Usage: event.Usage{Prompt: 1200, Completion: 60}, CostUSD: 0.004, DurationMS: 1500}
		for _, name := range calls {
			r.Calls = append(r.Calls, event.ToolCall{Name: name})
		}
		return r
	}
	asked := &event.LLMRequested{Purpose: "work", Model: "big", Attempt: 1}
	store, _, end := storeOf(t, 0, "Sum leaves out the last number", nil,
		&event.ConfigPinned{Model: "big", Language: "en"}, &event.ProcessStarted{}, &event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("Sum leaves out the last number.")},
		asked, reply("I run the tests.", "workspace__run_command"),
		&event.ToolRequested{Reply: 6, Server: "workspace", Tool: "run_command", Args: event.T(`{"argv":["go","test","./..."]}`)}, &event.ToolReplied{Content: event.T("exit code: 1\n--- FAIL: TestOf\nwant 6, got 3"), DurationMS: 900},
		&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "signal"}}, &event.ResumeRequested{By: "command"}, &event.ContextResumed{},
		&event.MessageAdded{Role: "user", Purpose: "comments", Content: event.T("Which line was it?")},
		asked, reply("It was line 7."), &event.ContextCompleted{Reason: "done"})
	end()
	return store
}
