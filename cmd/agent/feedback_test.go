package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"agent/internal/exhaustive"
	"agent/internal/report"
	"agent/llm/llmtest"
)

// TestMissingProject names a project that is not there: a matter of
// configuration, said once, with a hint.
func TestMissingProject(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, greet())
	for _, args := range [][]string{{"run"}, {"run", "--quiet"}} {
		out, errOut := w.agent(78, args...)
		if strings.Count(out+errOut, "HTTP 404") != 1 || strings.Count(errOut, "→ agent doctor") != 1 {
			t.Errorf("agent %v says\n%s%s", args, out, errOut)
		}
	}
	log, err := os.ReadFile(w.path("logs", "agent.log"))
	must(t, err)
	if !strings.Contains(string(log), `"level":"ERROR"`) {
		t.Error("the file of the log does not hold the trouble")
	}
	w.wantDry(78, "fail", "404")
}

// TestQuiet wants a run that cron can start: silent when all is well, and not otherwise.
func TestQuiet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	for range 2 {
		if out, errOut := w.agent(0, "run", "--quiet"); out+errOut != "" {
			t.Errorf("all is well, and it says\n%s%s", out, errOut)
		}
	}
	w.wantDone(1, w.only())
	bad := newWorld(t, llmtest.Always(llmtest.Error(401, "invalid_api_key", "Incorrect API key provided")))
	if out, _ := bad.agent(78, "run", "--quiet"); !strings.HasPrefix(out, "paused: ") || strings.Count(out, "\n") != 1 {
		t.Errorf("a bad key, and it says\n%s", out)
	}
	if out, _ := bad.agent(0, "run", "--quiet"); out != "" {
		t.Errorf("nothing to do, and it says\n%s", out)
	}
}

// TestCrontab wants the recipe of deploy to be one that is quiet by itself.
func TestCrontab(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/crontab")
	must(t, err)
	if s := string(text); !strings.Contains(s, "run --quiet\n") || !strings.Contains(s, "\nPATH=") || strings.Contains(s, "/dev/null") {
		t.Errorf("deploy/crontab:\n%s", s)
	}
}

func TestLoopIntroducesItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	for _, interval := range []string{"0", "-1"} {
		if _, errOut := w.agent(2, "loop", "--interval", interval); !strings.Contains(errOut, "1 second or more") {
			t.Errorf("%s seconds: %s", interval, errOut)
		}
	}
	p := w.start("loop", "--interval", "1")
	w.awaitCalls(1)
	p.kill()
	want := fmt.Sprintf("looking at %s (%s) for the label %q every 1s\n", w.forge.Host(), testRepo, botLabel)
	if !strings.HasPrefix(p.out.String(), want) {
		t.Errorf("loop begins with\n%s\nwant\n%s", p.out.String(), want)
	}
}

// TestAddressOfAContext gives commands the address of an item, which means its newest context.
func TestAddressOfAContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	older := w.only().UUID
	url := "http://" + w.forge.Host() + "/" + testRepo + "/issues/1"
	w.agent(0, "run", url)
	newest := ""
	for _, l := range w.list(0) {
		if l.UUID != older {
			newest = l.UUID
		}
	}
	if out, _ := w.agent(0, "inspect", "--json", url); !strings.Contains(out, `"uuid":"`+newest+`"`) {
		t.Errorf("inspect shows another context than %s:\n%s", newest, tail(out))
	}
	w.agent(0, "replay", url)
	for _, command := range []string{"verify", "rebuild"} {
		if out, _ := w.agent(0, command, url); !strings.Contains(out, newest) || strings.Contains(out, older) {
			t.Errorf("%s says\n%s", command, out)
		}
	}
	unknown := strings.TrimSuffix(url, "1") + "99"
	if _, errOut := w.agent(2, "inspect", unknown); !strings.Contains(errOut, "agent list shows") {
		t.Errorf("an item without a context: %s", errOut)
	}
	if _, errOut := w.agent(2, "inspect", "https://example.com/x"); !strings.Contains(errOut, "give a URL such as") || strings.Contains(errOut, "--help") {
		t.Errorf("no item: %s", errOut)
	}
	if _, errOut := w.agent(2, "inspect", "zebra"); !strings.Contains(errOut, "hex digits") {
		t.Errorf("no uuid: %s", errOut)
	}
}

// TestListOrder lists the newest first.
func TestListOrder(t *testing.T) {
	exhaustive.Only(t)
	t.Parallel()
	w := newWorld(t, greet())
	numbers := []int{1, w.issue("Two"), w.issue("Three")}
	for _, n := range numbers {
		w.agent(0, "run", fmt.Sprintf("%s/%s/issues/%d", w.forge.Host(), testRepo, n))
	}
	all := w.list(0)
	for i, l := range all {
		if want := fmt.Sprintf("/issues/%d", numbers[2-i]); !strings.HasSuffix(l.TaskKey, want) {
			t.Errorf("line %d is %s, want %s", i, l.TaskKey, want)
		}
	}
	out, _ := w.agent(0, "list")
	if lines := strings.Split(out, "\n"); len(lines) != 4 || !strings.HasPrefix(lines[0], all[0].UUID[:8]) {
		t.Errorf("list prints\n%s", out)
	}
}

// TestSignalIsNamed wants the file of the pause signal named wherever it matters.
func TestSignalIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	file := w.path("contexts", "pause_signal")
	must(t, os.WriteFile(file, nil, 0o600))
	w.issue("Another")
	for _, args := range [][]string{{"run"}, {"run", "--dry-run"}, {"status"}, {"resume", "--all"}} {
		if out, _ := w.agent(0, args...); !strings.Contains(out, file) || strings.Contains(out, "  : ") {
			t.Errorf("agent %v says\n%s", args, out)
		}
	}
	must(t, os.Remove(file))
	if out, _ := w.agent(0, "resume", "--all"); strings.Contains(out, file) || !strings.Contains(out, "nothing to resume") {
		t.Errorf("without the signal: %s", out)
	}
}

// TestRunOfTheEnded names a context that has ended: nothing is done, and it says what to do.
func TestRunOfTheEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.agent(0, "run")
	l := w.only()
	before := len(w.events(l.UUID))
	if out, _ := w.agent(0, "run", l.UUID[:8]); !strings.Contains(out, "has ended (completed): agent run https://"+l.TaskKey) {
		t.Errorf("run says\n%s", out)
	}
	if n := len(w.events(l.UUID)); n != before {
		t.Errorf("%d events, were %d", n, before)
	}
}

// TestWhyLeavesOutTheOvercome shows neither the agent's own comments nor a
// failure after which the work went on; for programs they are there.
func TestWhyLeavesOutTheOvercome(t *testing.T) {
	t.Parallel()
	script := greet()
	w := newWorld(t, func(n int, r llmtest.Request) llmtest.Reply {
		if n == 0 {
			return llmtest.Error(500, "overloaded", "Come again")
		}
		return script(n-1, r)
	})
	w.agent(0, "run")
	l := w.only()
	c := jsonOf[report.Why](w, 0, "why", l.UUID).Contexts[0]
	if c.Failure == nil || !c.Failure.Over || c.Failure.Type != "llm.failed" {
		t.Errorf("failure: %+v", c.Failure)
	}
	if out, _ := w.agent(0, "why", l.UUID); strings.Contains(out, "last failure") || strings.Contains(out, "agent's own") {
		t.Errorf("why says\n%s", out)
	}
	w.wantLoggedOnce(l, `"WARN","msg":"model call failed"`, `"error":"Come again`, `"next":"tried again at `)
	w.wantLoggedOnce(l, `"INFO","msg":"work begins","task":"`+l.TaskKey, `"title":"`)
	w.wantLoggedOnce(l, `"INFO","msg":"work ends"`, `"state":"completed","model_calls":2,"tool_calls":1,"tokens":`, `"change":"http`)
}

// wantLoggedOnce wants one line of the program's log that names a context, its task and all of parts.
func (w *world) wantLoggedOnce(l report.Listed, parts ...string) {
	w.t.Helper()
	log, err := os.ReadFile(w.path("logs", "agent.log"))
	must(w.t, err)
	found := 0
	for line := range strings.Lines(string(log)) {
		all := strings.Contains(line, l.UUID) && strings.Contains(line, l.TaskKey)
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			found++
		}
	}
	if found != 1 {
		w.t.Errorf("%d lines of the program's log have %q:\n%s", found, parts, log)
	}
}

// TestMissingServer wants the work to go on without a tool server that cannot be started, and the log to say so.
func TestMissingServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	w.extra = `mcp_servers:
  - {mcp_server_name: gone, command: [/no/such/program]}
  - {mcp_server_name: workspace, command: [agent, mcp, workspace, --root, "{workspace}"]}`
	w.agent(0, "run")
	l := w.only()
	w.wantDone(1, l)
	if body := w.wantComment(1, "✅ **Done**"); !strings.Contains(body, "Not all tools of the server `gone`") || strings.Contains(body, "/no/such") {
		t.Errorf("the closing comment says\n%s", body)
	}
	// How often it was tried to start it, and whether that is said, is a matter of time.
	missing := regexp.MustCompile(`tools of the server gone are missing: .*its command "/no/such/program" cannot be run`)
	if out, _ := w.agent(0, "why", l.UUID); !missing.MatchString(out) {
		t.Errorf("why says\n%s", out)
	}
	log, err := os.ReadFile(w.path("logs", "agent.log"))
	must(t, err)
	if !regexp.MustCompile(`"server":"gone","error":"[^\n]*its command \\"/no/such/program\\" cannot be run"`).Match(log) {
		t.Errorf("the log does not name the server:\n%s", log)
	}
}
