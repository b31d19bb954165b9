package page

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/internal/logtest"
	"agent/internal/page/pagetest"
)

const uuid = logtest.UUID

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pageOf(t *testing.T, store *contexts.Store, lang i18n.Lang, secrets ...string) (*Doc, string) {
	t.Helper()
	doc, err := Of(store, uuid, lang, secrets)
	must(t, err)
	var out bytes.Buffer
	must(t, doc.Write(&out))
	return doc, out.String()
}

func asked() event.Body {
	return &event.LLMRequested{Purpose: "work", Model: "big", Attempt: 1}
}

func replied(text string, calls ...string) event.Body {
	r := &event.LLMReplied{Text: event.T(text), Finish: "stop", Usage: event.Usage{Prompt: 1000, Completion: 50}, DurationMS: 1500}
	for _, name := range calls {
		r.Calls = append(r.Calls, event.ToolCall{Name: name})
	}
	return r
}

// run has what a person looks for: a failure with its output, a pause with its reason, and
// what the model was told after it.
func run() []event.Body {
	return []event.Body{
		&event.ConfigPinned{Model: "big", Language: "en"}, &event.ProcessStarted{}, &event.MessageAdded{Role: "user", Purpose: "task", Content: event.T("Greet the world.")},
		asked(), replied("I run the tests.", "workspace__run_command"),
		&event.ToolRequested{Reply: 6, Server: "workspace", Tool: "run_command", Args: event.T(`{"argv":["go","test"]}`)},
		&event.ToolReplied{Content: event.T("exit code: 1\nwant 6, got 3\n" + strings.Repeat("line of the output\n", 40) + "the last line"), DurationMS: 20},
		&event.CommentRequested{Purpose: "progress", Body: event.T("**Working** on [it](https://example.com/x)")}, &event.CommentPosted{ID: "7", URL: "https://example.com/c/7"},
		&event.ContextPaused{Reason: "requested", Until: event.Until{Kind: "signal"}},
		&event.ResumeRequested{By: "command"}, &event.ContextResumed{},
		&event.MessageAdded{Role: "user", Purpose: "comments", Content: event.T("Please be brief.")},
		&event.MessageAdded{Role: "assistant", Purpose: "inherited", Content: event.T("Words of an earlier attempt.")}, // kept apart, in a blob
		&event.PlanMade{Plan: event.Plan{Goal: event.Goal{Objective: "Greet all"}, Actions: event.ActionPlan{Actions: []event.Action{{ID: "a1", Purpose: "Say hello"}}}}},
		&event.PlanRevised{Trigger: "comments", Revision: event.Revision{Reason: "be brief", Actions: event.ActionPlan{Actions: []event.Action{{ID: "a2", Purpose: "Say hi"}}}}},
		asked(),
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	doc, text := pageOf(t, logtest.Store(t, "Greet the world", run()...), i18n.En)
	for _, want := range []string{
		"<title>Greet the world · agent</title>", "the last line", // the full output
		`<a href="#e7">7</a> <span class="bad">workspace/run_command go test</span>`, // what failed
		"the pause signal is set", `<a href="#m14">what the model was told then`, `id="m14"`, "Please be brief.", // why it paused, and what came after
		`<strong>Working</strong> on <a rel="noopener noreferrer nofollow" href="https://example.com/x">`, // the comment
		"Words of an earlier attempt.", "Greet all", "Revision 1", "be brief", "Say hi", "waits for the model: big, work",
		`→ <a href="#e7">workspace__run_command</a>`,
		"<td>workspace/run_command</td><td>1</td><td><span class=\"bad\">1</span></td><td>0.0s</td>", // by tool
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "0.00 USD") || strings.Contains(text, "$0") || !strings.Contains(text, "no price: –") {
		t.Error("a price that is not known is not shown as such")
	}
	if doc.Cut || len(doc.Charts) != 3 {
		t.Errorf("cut %v, %d charts", doc.Cut, len(doc.Charts))
	}
	if _, ja := pageOf(t, logtest.Store(t, "Greet the world", run()...), i18n.Ja); !strings.Contains(ja, `<html lang="ja">`) || !strings.Contains(ja, "失敗したこと") || !strings.Contains(ja, "モデルとの会話") {
		t.Error("the Japanese page is not Japanese")
	}
}

// Everything of the world is text: no element, attribute or address that it wrote works.
func TestHostilePage(t *testing.T) {
	t.Parallel()
	for _, evil := range pagetest.Hostile {
		_, text := pageOf(t, logtest.Store(t, evil, pagetest.Everywhere(evil)...), i18n.En)
		if scripts, problems := pagetest.Problems(text); scripts != 1 || len(problems) > 0 {
			t.Errorf("%.40q: %d scripts, %q", evil, scripts, problems)
		}
		for _, raw := range []string{"\x1b", "\u202e", "\u009b", "\x00", "\x07"} {
			if strings.Contains(text, raw) {
				t.Errorf("%.40q: the page holds %q", evil, raw)
			}
		}
	}
}

// Of a damaged log, and of one without its beginning, what can be read is shown with what is wrong.
func TestDamagedPage(t *testing.T) {
	t.Parallel()
	for _, spoiled := range []int{1, 3, 6, 9} {
		dir := t.TempDir()
		store := logtest.StoreIn(t, dir, "Greet", append(run()[:15], &event.LLMFailed{Kind: "auth"}, &event.ContextCompleted{Reason: "done"})...)
		files, err := filepath.Glob(filepath.Join(dir, "contexts", "*", uuid, contexts.LogFile))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		data, err := os.ReadFile(files[0])
		must(t, err)
		lines := bytes.SplitAfter(data, []byte("\n"))
		lines[spoiled] = bytes.Replace(lines[spoiled], []byte(`"`), []byte(`'`), 3)
		must(t, os.WriteFile(files[0], bytes.Join(lines, nil), 0o600))
		doc, text := pageOf(t, store, i18n.En)
		if len(doc.Problems) == 0 || !strings.Contains(text, "The log is damaged") || !strings.Contains(text, "<code>agent repair "+uuid+"</code>") || !strings.Contains(text, "Please be brief.") {
			t.Errorf("line %d spoiled: %q", spoiled, doc.Problems)
		}
	}
	if _, text := pageOf(t, logtest.Store(t, "Bare", &event.ContextCompleted{Reason: "done"}), i18n.En); !strings.Contains(text, "Bare") {
		t.Error("a log without a configuration has no page")
	}
}

// A configured secret that the log holds does not reach the page.
func TestPageIsRedacted(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2-hunter2"
	_, text := pageOf(t, logtest.Store(t, "Title "+secret, pagetest.Everywhere("a "+secret+" b")...), i18n.En, secret)
	if i := strings.Index(text, secret); i >= 0 {
		t.Errorf("the page holds a secret: %.200q", text[max(i-100, 0):])
	}
}

// The page of a run of 200 steps with long outputs stays small, and says what it cut.
func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	doc, text := pageOf(t, logtest.Store(t, "Long", pagetest.Long(200, 40<<10)...), i18n.En)
	if len(text) > 3<<20 || !doc.Cut || !strings.Contains(text, "bytes omitted") || !strings.Contains(text, fmt.Sprintf("more than %d KiB", doc.Bound>>10)) {
		t.Errorf("%d bytes, cut %v, bound %d", len(text), doc.Cut, doc.Bound)
	}
	if !strings.Contains(text, `id="s200"`) || !strings.Contains(text, `id="s1"`) {
		t.Error("steps are missing")
	}
	doc, text = pageOf(t, logtest.Store(t, "Longer", pagetest.Long(1600, 10)...), i18n.En)
	if len(text) > 3<<20 || doc.Earlier == 0 {
		t.Errorf("%d bytes, %d rows left out", len(text), doc.Earlier)
	}
}

// A file is there whole or not at all, and no temporary one stays.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	doc, text := pageOf(t, logtest.Store(t, "Greet", run()...), i18n.En)
	dir := t.TempDir()
	name := filepath.Join(dir, "run.html")
	must(t, doc.WriteFile(name, nil))
	got, err := os.ReadFile(name)
	if err != nil || string(got) != text {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
	absent := filepath.Join(dir, "no", "run.html")
	if err := doc.WriteFile(absent, nil); err == nil || !strings.HasPrefix(err.Error(), "write "+absent+": its directory "+filepath.Dir(absent)+" does not exist") || contexts.ExitCode(err) != contexts.ExitIO {
		t.Errorf("into a directory that is not there: %v", err)
	}
	if err := doc.WriteFile(dir, nil); err == nil || !strings.HasPrefix(err.Error(), "write "+dir+": ") {
		t.Errorf("in place of a directory: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	var out bytes.Buffer
	must(t, doc.WriteFile("-", &out))
	if out.String() != text {
		t.Error("standard output differs from the file")
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"<b onclick=x()>hi</b>":                     "<p>&lt;b onclick=x()&gt;hi&lt;/b&gt;</p>\n",
		"<!-- hidden -->":                           "<p>&lt;!-- hidden --&gt;</p>\n",
		"[x](javascript:alert(1))":                  "<p>x (javascript:alert(1))</p>\n",
		"[x](data:text/html,y)":                     "<p>x (data:text/html,y)</p>\n",
		"![pic](https://e.com/a.png)":               `<p>🖼 <a rel="noopener noreferrer nofollow" href="https://e.com/a.png">pic</a></p>` + "\n",
		`[x](https://e.com/"onmouseover="alert(1))`: `<p><a rel="noopener noreferrer nofollow" href="https://e.com/%22onmouseover=%22alert%281%29">x</a></p>` + "\n",
		"```html\"><script>\nx\n```":                "<pre><code class=\"language-html&quot;&gt;&lt;script&gt;\">x\n</code></pre>\n",
	} {
		if got := string(Markdown(source)); got != want {
			t.Errorf("%s\n got %q\nwant %q", source, got, want)
		}
	}
	began := time.Now()
	for _, s := range []string{strings.Repeat("*a ", 16<<10), strings.Repeat("> ", 20<<10), strings.Repeat("[", 40<<10), strings.Repeat("- ", 20<<10) + "x"} {
		Markdown(s)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("hostile Markdown took %v", took)
	}
}

// A patch is completed with the lines that it leaves out.
func TestExpand(t *testing.T) {
	t.Parallel()
	patch := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n@@ -6 +6,2 @@\n-f\n+F\n+G\n"
	want := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@\n a\n b\n-c\n+C\n d\n e\n-f\n+F\n+G\n h\n"
	if got := expand(patch, strings.SplitAfter("a\nb\nC\nd\ne\nF\nG\nh", "\n")); got != want {
		t.Errorf("got\n%s", got)
	}
}

// The signs of a patch stand apart, so that a file before or after a change has none.
func TestPatchSigns(t *testing.T) {
	t.Parallel()
	want := "<u>--- a/x\n</u><i>@@ -1,2 +1,2 @@\n</i><q><s> </s>a\n</q><del><s>-</s>- b&lt;\n</del><ins><s>+</s>+ c\n</ins><i>@@ -9 +9 @@\n</i><q>\n</q>"
	if got := (&builder{}).patch("--- a/x\n@@ -1,2 +1,2 @@\n a\n-- b<\n++ c\n@@ -9 +9 @@\n\n"); string(got) != want {
		t.Errorf("got %q", got)
	}
}

// What the charts draw is bounded, and an unknown price is no bar.
func TestChart(t *testing.T) {
	t.Parallel()
	c := Chart{Title: `a"b<`, None: "nothing"}
	for i := range 1000 {
		c.Bars = append(c.Bars, Bar{Name: fmt.Sprint(i), Values: [2]float64{float64(i), 1}, Text: "<x>"})
	}
	if svg := string(c.SVG()); strings.Count(svg, "<title>") > mostBars || strings.Contains(svg, "<x>") || strings.Contains(svg, `a"b<`) {
		t.Errorf("%.300s", svg)
	}
	if svg := string(Chart{Bars: []Bar{{}}, None: "nothing"}.SVG()); !strings.Contains(svg, "nothing") || strings.Contains(svg, "<rect") {
		t.Error(svg)
	}
}

// A link leads to the web or to a page of ours, whatever is in a log.
func TestHref(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://e.com/a?b=1&c=2": "https://e.com/a?b=1&amp;c=2", "HTTP://e.com": "http://e.com", "#e7": "#e7", "?until=3": "?until=3", "/c/1/e/2": "/c/1/e/2",
		`https://e.com/"><script>`: "https://e.com/%22%3E%3Cscript%3E", `?q="><script>`: "?q=&#34;&gt;&lt;script&gt;", `/\evil.example`: "/%5Cevil.example",
		"javascript:alert(1)": "#", "JavaScript:alert(1)": "#", " javascript:alert(1)": "#", "java\nscript:alert(1)": "#", "\x01javascript:alert(1)": "#",
		"data:text/html,x": "#", "//evil.example": "#", "///evil.example": "#", "https:evil.example": "#", "file:///etc/passwd": "#", "mailto:a@b": "#", "%": "#",
	} {
		var out strings.Builder
		must(t, Href(address).Render(&out))
		if got := out.String(); got != ` href="`+want+`"` {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
	}
}
