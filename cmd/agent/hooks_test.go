package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent/forge/forgetest"
	"agent/internal/doctor"
	"agent/internal/freeport"
	"agent/llm/llmtest"
)

const hookSecret = "secret-of-the-hook-5b1d7c9e"

// withHooks lets the loop listen for hooks, and gives the address.
func (w *world) withHooks(secret string) (url string) {
	w.t.Helper()
	ports, err := freeport.Find(1)
	must(w.t, err)
	address := freeport.Address(ports[0])
	w.extra += fmt.Sprintf("webhooks: {listen: %q, secret: %q, interval_seconds: 86400}\nloop: {interval_seconds: 86400}\n", address, secret)
	return "http://" + address + "/hooks"
}

// deliver sends a delivery until the loop listens.
func (w *world) deliver(d forgetest.Delivery, url string) (status int) {
	w.t.Helper()
	w.until("the loop listens", func() bool {
		var err error
		status, err = d.Send(url)
		return err == nil
	})
	return status
}

// TestHookStartsAtOnce: a loop that polls once a day begins an issue when the hook of its label
// comes, goes on when that of an answer comes, and does nothing for one with another secret.
func TestHookStartsAtOnce(t *testing.T) {
	t.Parallel()
	const signing = "whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHQ="
	t.Run("GitHub", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, greet())
		w.forge.RemoveLabels(testRepo, 1, botLabel)
		url := w.withHooks(hookSecret)
		loop := w.start("loop")
		quiet := w.forge.Delivery(testRepo, 1, "issues", "opened", hookSecret)
		if status := w.deliver(quiet, url); status != http.StatusNoContent {
			t.Fatalf("%d\n%s", status, &loop.err)
		}
		w.forge.AddLabels(testRepo, 1, botLabel)
		if status := w.deliver(w.forge.Delivery(testRepo, 1, "issues", "labeled", "another-secret-0123456"), url); status != http.StatusUnauthorized {
			t.Errorf("forged: %d", status)
		}
		w.beginsAtOnce(w.forge.Delivery(testRepo, 1, "issues", "labeled", hookSecret), url)
		w.until("it is done", func() bool { return w.only().State == "completed" })
		w.until("the worker is free", func() bool { return len(w.processes("")) == 1 })
		requests, calls := len(w.forge.Requests()), len(w.model.Requests())
		for range 200 { // replays of what is over
			w.deliver(quiet, url)
		}
		if n := len(w.forge.Requests()) - requests; n > 5 || len(w.model.Requests()) != calls {
			t.Errorf("200 replays led to %d requests and %d calls", n, len(w.model.Requests())-calls)
		}
		w.endLoop(loop)
	})
	for _, secret := range []string{hookSecret, signing} {
		t.Run("GitLab "+secret[:6], func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t, greet())
			server := forgetest.NewGitLab()
			t.Cleanup(server.Close)
			server.AddToken(testToken, testBot)
			server.AddProject(testProject, forgetest.Project{Private: true, Git: w.path("origin.git")})
			item := server.AddIssue(testProject, "Greet the world", "Please write hello.txt.", "alice")
			w.site = (&onGitLab{w: w, server: server, item: item}).config()
			url := w.withHooks(secret)
			loop := w.start("loop")
			w.deliver(item.Delivery(false, secret), url)
			item.AddLabels(botLabel)
			w.beginsAtOnce(item.Delivery(false, secret), url)
			w.until("it is done", func() bool { return slices.Contains(item.Labels(), doneLabel) })
			w.endLoop(loop)
		})
	}
}

// beginsAtOnce sends the hook of a label and waits for the first call of the model.
func (w *world) beginsAtOnce(d forgetest.Delivery, url string) {
	w.t.Helper()
	begin := time.Now()
	if status := w.deliver(d, url); status != http.StatusNoContent {
		w.t.Fatalf("the hook: %d", status)
	}
	w.awaitCalls(1)
	w.t.Logf("from the hook to the first call: %v", time.Since(begin))
}

func (w *world) endLoop(loop *process) {
	w.t.Helper()
	loop.signal(syscall.SIGTERM)
	if code := loop.wait(); code != 0 {
		w.t.Errorf("the loop ends with %d\n%s", code, &loop.err)
	}
	if strings.Contains(loop.err.String()+loop.out.String(), hookSecret) {
		w.t.Error("the secret is printed")
	}
}

// TestHookOfAnAnswer: an answer on a task that waits for one is seen at once, by its hook.
func TestHookOfAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Turns(write("hello.txt", "hello\n"), llmtest.Done("I wrote hello.txt."), llmtest.Done("bye.txt can wait.")))
	w.extra += "comment_handling: {enabled: true}\n"
	url := w.withHooks(hookSecret)
	loop := w.start("loop")
	w.until("it waits for an answer", func() bool {
		all := w.list(0)
		return len(all) == 1 && all[0].State == "awaiting"
	})
	calls := len(w.model.Requests())
	w.forge.AddComment(testRepo, 1, "alice", "Please write bye.txt, too.")
	w.deliver(w.forge.Delivery(testRepo, 1, "issue_comment", "created", hookSecret), url)
	w.awaitCalls(calls + 1)
	w.endLoop(loop)
}

// TestHooksCannotBeListenedFor: a port that another program has, and a certificate that cannot be read, end the loop
// with 78 before it touches a task, and the doctor says so. One of our own loops at the port is no fault for it.
func TestHooksCannotBeListenedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, greet())
	other, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = other.Close() })
	w.extra = fmt.Sprintf("webhooks: {listen: %q, secret: %q}\n", other.Addr(), hookSecret)
	_, errOut := w.agent(78, "loop")
	if !strings.Contains(errOut, "address already in use") || !strings.Contains(errOut, "section webhooks") || strings.Count(errOut, "\n") > 2 {
		t.Errorf("%s", errOut)
	}
	w.wantFinding(w.findings(78, "--no-model-call"), "webhooks", doctor.Failed, "choose another port")
	w.extra = fmt.Sprintf("webhooks: {listen: \"127.0.0.1:0\", secret: %q, cert_file: %q, key_file: %q}\n", hookSecret, w.path("none.pem"), w.path("none.key"))
	if _, errOut = w.agent(78, "loop"); !strings.Contains(errOut, "none.pem") {
		t.Errorf("%s", errOut)
	}
	w.wantFinding(w.findings(78, "--no-model-call"), "webhooks", doctor.Failed, "correct webhooks.cert_file")
	if n := len(w.model.Requests()); n != 0 {
		t.Errorf("%d calls of the model", n)
	}
	w.forge.RemoveLabels(testRepo, 1, botLabel)
	w.extra = ""
	w.withHooks(hookSecret)
	w.wantFinding(w.findings(0, "--no-model-call"), "webhooks", doctor.OK, "is free")
	loop := w.start("loop")
	w.until("the loop listens", func() bool {
		listens := false
		for _, f := range w.findings(0, "--no-model-call")["webhooks"] {
			listens = listens || strings.Contains(f.Text, "agent loop listens at")
		}
		return listens
	})
	w.wantFinding(w.findings(0, "--no-model-call"), "webhooks", doctor.OK, "set up "+testRepo)
	w.endLoop(loop)
}

// TestHookOfABusyTask: while another process works on a task its hook has no effect, and what it told of is not
// forgotten: when that process is gone, and died at it, the loop looks and goes on.
func TestHookOfABusyTask(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	reply := write("hello.txt", "hello\n")
	reply.Until = held
	w := newWorld(t, llmtest.Turns(reply, llmtest.Done("I wrote hello.txt.")))
	run := w.start("run")
	w.awaitCalls(1)
	url := w.withHooks(hookSecret)
	loop := w.start("loop")
	d := w.forge.Delivery(testRepo, 1, "issue_comment", "created", hookSecret)
	for range 20 {
		w.deliver(d, url)
	}
	if all := w.list(0); len(all) != 1 || len(w.model.Requests()) != 1 {
		t.Fatalf("%+v, %d calls", all, len(w.model.Requests()))
	}
	run.kill()
	close(held)
	w.until("the loop has gone on", func() bool { return w.only().State == "completed" })
	w.endLoop(loop)
}

// processorTime is what the world's processes and those that they waited for have used, as the kernel counts it.
func (w *world) processorTime() (sum time.Duration) {
	const tick = 10 * time.Millisecond
	for _, p := range w.running() {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid)) // it may be gone
		_, after, _ := strings.Cut(string(data), ") ")
		if fields := strings.Fields(after); len(fields) > 14 {
			for _, field := range fields[11:15] {
				ticks, _ := strconv.Atoi(field)
				sum += time.Duration(ticks) * tick
			}
		}
	}
	return sum
}

// TestThreeHooksAtOnce: items that are labelled at the same time do not wait for each other. It says how long each takes:
// on a machine with other work the processor time tells more.
func TestThreeHooksAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, llmtest.Always(llmtest.Done("It is done.")))
	w.extra += "workers: 3\n"
	w.forge.RemoveLabels(testRepo, 1, botLabel)
	numbers := []int{1, w.forge.AddIssue(testRepo, "Second", "Please do it.", "alice"), w.forge.AddIssue(testRepo, "Third", "Please do it.", "alice")}
	url := w.withHooks(hookSecret)
	loop := w.start("loop")
	w.deliver(w.forge.Delivery(testRepo, 1, "issues", "opened", hookSecret), url)
	begin, used := time.Now(), w.processorTime()
	for _, n := range numbers {
		w.forge.AddLabels(testRepo, n, botLabel)
		w.deliver(w.forge.Delivery(testRepo, n, "issues", "labeled", hookSecret), url)
	}
	for n := range numbers {
		w.awaitCalls(n + 1)
		t.Logf("from the labels to call %d: %v, processor time %v", n+1, time.Since(begin).Round(time.Millisecond), w.processorTime()-used)
	}
	w.until("all are done", func() bool {
		return !slices.ContainsFunc(numbers, func(n int) bool { return !slices.Contains(w.forge.Labels(testRepo, n), doneLabel) })
	})
	w.endLoop(loop)
}
