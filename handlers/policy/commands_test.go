package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"agent/handlers/policy"
)

// read renders what a comment asks for: "approve:3f2a91c; stop", with "+" before it if
// the comment says something else, too.
func read(body string, g policy.Grammar) string {
	commands, alone := policy.Commands(body, g)
	var all []string
	for _, c := range commands {
		text := string(c.Name)
		if c.Argument != "" {
			text += ":" + c.Argument
		}
		all = append(all, text)
	}
	if len(all) > 0 && !alone {
		return "+" + strings.Join(all, "; ")
	}
	return strings.Join(all, "; ")
}

// Every form of every command, where a slash is ours and where it is the forge's.
func TestCommandForms(t *testing.T) {
	ours, theirs := policy.Grammar{Slash: true, Bot: "coder[bot]"}, policy.Grammar{Bot: "coder"}
	for form, want := range map[string]string{
		"%sapprove":                   "approve",
		"%sApprove.":                  "approve",
		"%sapprove 3F2A91C":           "approve:3f2a91c",
		"%sapprove `3f2a91c0b4d7`":    "approve:3f2a91c0b4d7",
		"%sapprove that, please":      "", // a sentence
		"%sapprove 3f2a":              "", // too short for a hash
		"%srevise use the other API.": "revise:use the other API.",
		"%srevise":                    "",
		"%sstop":                      "stop",
		"%sstop using that library":   "",
		"%spause":                     "pause",
		"%sresume":                    "resume",
		"%sresume the download":       "",
		"%sretry":                     "retry",
		"%sbudget +2.5":               "budget:+2.5",
		"%sbudget 2":                  "",
		"%sbudget +many":              "",
		"%sstatus":                    "status",
		"%sunknown":                   "",
		"%s":                          "",
	} {
		for prefix, g := range map[string][]policy.Grammar{"/": {ours}, "@coder ": {ours, theirs}, "@Coder[bot] ": {ours}, "agent ": {ours, theirs}, "Agent ": {ours, theirs}} {
			for _, g := range g {
				text := fmt.Sprintf(form, prefix)
				if got := read(text, g); got != want {
					t.Errorf("%q on %+v: %q, want %q", text, g, got, want)
				}
			}
		}
		if got := read(fmt.Sprintf(form, "/"), theirs); got != "" {
			t.Errorf("%q is a command of the forge itself: %q", form, got)
		}
		if got := read(fmt.Sprintf(form, "/"), policy.Grammar{Slash: true, Off: true}); got != "" {
			t.Errorf("%q where comments are comments: %q", form, got)
		}
	}
}

// A command is first in its line, and neither code nor quoted nor hidden.
func TestCommandPlaces(t *testing.T) {
	g := policy.Grammar{Slash: true, Bot: "coder"}
	for text, want := range map[string]string{
		"agent approve":                  "approve",
		" Agent Approve. \r\n":           "approve",
		"`agent approve`":                "approve", // copied from a comment of ours
		"`agent approve 3f2a91c`":        "approve:3f2a91c",
		"approve 3f2a91c":                "approve:3f2a91c",
		"approve":                        "", // a word
		"approve the design":             "",
		"Looks fine.\n\nagent approve\n": "+approve",
		"/approve\n/stop":                "approve; stop",
		"/approve\n\n/revise use Go\nand nothing else":  "+approve; revise:use Go",
		"I will not agent approve this":                 "",
		"please /approve":                               "",
		"- /approve":                                    "",
		"1. /approve":                                   "",
		"# /approve":                                    "",
		"\\/approve":                                    "",
		"`/approve`":                                    "",
		"**/approve**":                                  "",
		"/approvers":                                    "",
		"//approve":                                     "",
		"@coders approve":                               "",
		"@coder: approve":                               "",
		"@someone approve":                              "",
		"bob@coder approve":                             "",
		"> agent approve":                               "",
		">/approve":                                     "",
		"> - /approve":                                  "",
		"> he wrote\n/approve":                          "", // a lazy continuation is shown inside of the quote
		"> he wrote\n\n/approve":                        "+approve",
		">>>\n/approve\n>>>":                            "", // a quote of GitLab's
		">>>\nhe wrote\n>>>\n/approve":                  "+approve",
		"```\nagent approve\n```":                       "",
		"~~~\n/approve\n~~~":                            "",
		"````\n```\n/approve\n```\n````":                "", // the inner fences are text
		"~~~\n```\n/approve\n~~~":                       "",
		"```\n~~~\n```\n/approve":                       "+approve",
		"```\n```go\n/approve\n```":                     "", // a fence with a word ends nothing
		"```\n/approve":                                 "", // nobody closed it
		"- ```\n  /approve\n  ```":                      "",
		"1. ~~~\n   /approve\n   ~~~":                   "",
		"```x``` is code\n\n/approve":                   "+approve",
		"    /approve":                                  "", // code by its indent
		"\t/approve":                                    "",
		"   /approve":                                   "approve",
		"<!-- hidden\n/approve\n-->":                    "",
		"text <!-- hidden\n/approve\n-->":               "",
		"<!-- a --> <!-- b\n/approve\n-->":              "",
		"<!-- hidden -->\n/approve":                     "+approve",
		"<!-- a\n```\n-->\n/approve":                    "+approve",
		"<pre>\n/approve\n</pre>":                       "",
		"<PRE class=x>\n/approve\n</PRE>":               "",
		"<blockquote>\n/approve\n</blockquote>":         "",
		"<blockquote>he wrote</blockquote>\n\n/approve": "+approve",
		"see <code>x\n/approve\n</code>":                "",
		"\u200b/approve":                                "", // not what people see
		"／approve":                                      "",
		"/аpprove":                                      "", // a Cyrillic а
		"text\r/approve":                                "",
		"":                                              "",
		"\n \n":                                         "",
	} {
		if got := read(text, g); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := read("@ approve\n@[bot] approve", policy.Grammar{}); got != "" {
		t.Errorf("mentions of nobody: %q", got)
	}
}

// No text makes the parser fail, and a quoted text never holds a command.
func FuzzCommands(f *testing.F) {
	for _, seed := range []string{"/approve", "```\n/stop", "<!--", "> x\n/approve", "@coder revise y", "- ```\n", ">>>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		g := policy.Grammar{Slash: true, Bot: "coder"}
		policy.Commands(body, g)
		if c, _ := policy.Commands("> "+strings.ReplaceAll(body, "\n", "\n> "), g); len(c) > 0 {
			t.Errorf("%q quoted: %v", body, c)
		}
	})
}
