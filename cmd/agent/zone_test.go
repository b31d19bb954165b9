package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agent/internal/cli"
)

// zoned are the commands and how to make each print all the times that it can; nil for those that print none, or
// only times of their own package (what --json and export give to programs is in UTC and says so).
var zoned = map[string][][]string{
	"list": {{"list"}}, "status": {{"status"}, {"status", "--check"}}, "why": {{"why", "DONE"}, {"why", "PAUSED"}}, "stats": {{"stats"}, {"stats", "--by", "context"}},
	"inspect": {{"inspect"}, {"inspect", "DONE"}, {"inspect", "PAUSED"}, {"inspect", "DONE", "1"}, {"inspect", "DONE", "--conversation"}, {"inspect", "DONE", "--costs"}, {"inspect", "PAUSED", "--failed"}},
	"search":  {{"search", "hello"}}, "verify": {{"verify"}}, "diff": {{"diff", "DONE", "--step"}}, "files": {{"files", "DONE"}}, "replay": {{"replay", "DONE"}}, "gc": {{"gc", "--dry-run"}, {"gc"}},
	"pause": {{"pause", "PAUSED"}}, "resume": {{"resume", "PAUSED"}}, "stop": {{"stop", "PAUSED"}}, "rebuild": {{"rebuild", "DONE"}}, "forget": {{"forget", "DONE", "--yes"}},
	"run": nil, "loop": nil, "try": nil, "fork": nil, "restore": nil, "export": nil, "ui": nil, "init": nil, "notify": nil, "demo": nil, "mcp": nil, "docs": nil, "completion": nil, "help": nil,
	"version": nil, "config": nil, "doctor": nil, "repair": nil, "cluster": nil,
}

// aClock is a time of day with what follows it.
var aClock = regexp.MustCompile(`\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?( [A-Z]{3,5}\b| ?[+-]\d{2}:?\d{2}\b|Z\b)?`)

// Whoever compares what two commands print must not have to guess in which zone each is: every time on
// the command line carries its zone, and all are in that of the machine. The lines of inspect stand below a day that says it.
func TestTimesCarryTheirZone(t *testing.T) { // not beside others: commands run in this process, whose zone is another one meanwhile
	for _, c := range (&commands{&cli.Env{Getenv: os.Getenv, Out: io.Discard, Err: io.Discard}}).root().Commands() {
		if _, known := zoned[c.Name()]; !known {
			t.Errorf("%s: does it print times?", c.Name())
		}
	}
	w := newWorld(t, hanging(1, greet()))
	ids := strings.NewReplacer("PAUSED", w.pausedByCommand(), "DONE", func() string { w.issue("Greet again"); w.agent(0, "run"); return w.newest().UUID }())
	defer func(before *time.Location) { time.Local = before }(time.Local)
	time.Local = time.FixedZone("JST", 9*3600)
	for _, name := range []string{"list", "status", "why", "stats", "inspect", "search", "verify", "diff", "files", "replay", "gc", "pause", "resume", "stop", "rebuild", "forget"} {
		for _, args := range zoned[name] {
			for i := range args {
				args[i] = ids.Replace(args[i])
			}
			out, errOut, code := w.look(slices.Clone(args)...)
			n := wantZones(t, args, out+errOut)
			if needs := name == "list" || name == "why" || name == "inspect" && len(args) <= 3 || name == "search"; code > 1 || needs && n == 0 {
				t.Errorf("agent %v: exit %d, %d times:\n%s%s", args, code, n, out, errOut)
			}
		}
	}
}

// wantZones wants all times in a text to be in the zone of the machine, and counts them.
func wantZones(t *testing.T, args []string, text string) (n int) {
	t.Helper()
	day := false // a day with its zone stands above
	for line := range strings.Lines(text) {
		day = day || args[0] == "inspect" && strings.HasSuffix(strings.TrimSpace(line), " JST") && !aClock.MatchString(line)
		for _, at := range aClock.FindAllStringSubmatch(line, -1) {
			if n++; at[1] != " JST" && !(day && at[1] == "") {
				t.Errorf("agent %v prints %q without the zone of the machine: %s", args, at[0], line)
			}
		}
	}
	return n
}
