package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agent/internal/cli"
	"agent/internal/i18n"
	"agent/internal/term"
)

// in is the environment of a user with a locale.
func in(locale string) func(string) string {
	return func(name string) string {
		if name == "LANG" {
			return locale
		}
		return ""
	}
}

// printed is what a command line prints in a locale.
func printed(locale string, args ...string) (out string, code int) {
	var b bytes.Buffer
	code = execute(context.Background(), args, in(locale), &b, &b)
	return b.String(), code
}

// everyCommand visits all commands, with the flags that the library makes when one runs.
func everyCommand(visit func(c *cobra.Command, path []string)) {
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		c.InitDefaultHelpFlag()
		visit(c, path)
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
	}
	walk((&commands{&cli.Env{Getenv: in("C"), Out: io.Discard, Err: io.Discard}}).root(), nil)
}

// commented is a line of an example with a comment: the code, and the comment.
var commented = regexp.MustCompile(`^(  \S.*?)\s{2,}(?:# )?(\S.*)$`)

// helpTexts are those of a command that people read, by what they are.
func helpTexts(c *cobra.Command) map[string]string {
	texts := map[string]string{"short": c.Short}
	if c.Long != "" {
		texts["long"] = c.Long
	}
	for _, g := range c.Groups() {
		texts["group "+g.ID] = g.Title
	}
	for line := range strings.SplitSeq(c.Example, "\n") {
		if m := commented.FindStringSubmatch(line); m != nil {
			texts["comment "+m[1]] = m[2]
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) { texts["--"+f.Name] = f.Usage })
	return texts
}

func isJapanese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) })
}

// asciiWords are the words of a text in letters that code is made of.
func asciiWords(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r > '~' || strings.ContainsRune(" \t\n()'!;?|[]{}<>", r) }) {
		if w = strings.Trim(w, ",.:\"#"); w != "" {
			words[w] = true
		}
	}
	return words
}

// isCode tells whether a word means the same in all languages: a flag, a name, a number, a path.
func isCode(w string) bool {
	return len(w) > 1 && strings.ToUpper(w) == w || strings.HasPrefix(w, "-") || strings.ContainsAny(w, "0123456789_$~/`.*\\") || w == "Ctrl-C"
}

// mayAdd are words that only the Japanese texts have.
var mayAdd = regexp.MustCompile(`^([123]|Issue|Web|Webhook|agent|run|loop|replay|try|TEXT|--since)$`)

// Nothing that is code gets lost in a text's translation, and nothing is made up.
func sameCode(t *testing.T, where, en, ja string, commands *regexp.Regexp) {
	t.Helper()
	have, want := asciiWords(ja), asciiWords(en)
	lower := map[string]bool{}
	for w := range want {
		lower[strings.ToLower(w)] = true
		if isCode(w) && !have[w] {
			t.Errorf("%s: %q is lost:\n%s", where, w, ja)
		}
	}
	for w := range have {
		if !lower[strings.ToLower(w)] && !mayAdd.MatchString(w) {
			t.Errorf("%s: %q is not in the English text:\n%s\n%s", where, w, ja, en)
		}
	}
	for _, call := range commands.FindAllString(strings.Join(strings.Fields(en), " "), -1) {
		if !strings.Contains(strings.Join(strings.Fields(ja), " "), call) {
			t.Errorf("%s: %q is lost:\n%s", where, call, ja)
		}
	}
}

// namesOfCommands finds a command as one types it.
func namesOfCommands() *regexp.Regexp {
	var names []string
	everyCommand(func(c *cobra.Command, _ []string) { names = append(names, c.Name()) })
	return regexp.MustCompile(`\bagent (` + strings.Join(names[1:], "|") + `)( --[a-z-]+)?\b`)
}

// TestHelpHasJapanese wants a translation of all that help says, and no translation of what it does not say.
func TestHelpHasJapanese(t *testing.T) {
	t.Parallel()
	calls, said := namesOfCommands(), map[string]bool{}
	everyCommand(func(c *cobra.Command, path []string) {
		for what, en := range helpTexts(c) {
			where, ja := c.CommandPath()+" "+what, i18n.Help(i18n.Ja, en)
			said[en] = true
			if !isJapanese(ja) {
				t.Errorf("%s: no Japanese for %q", where, en)
				continue
			}
			sameCode(t, where, en, ja, calls)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if values, ok := c.GetFlagCompletionFunc(f.Name); ok {
				offered, _ := values(c, nil, "")
				sameValues(t, c.CommandPath()+" --"+f.Name, offered, f.Usage)
			}
		})
		help, _ := printed("C", append(path, "--help")...)
		for line := range strings.Lines(help) {
			said[strings.TrimSuffix(line, "\n")] = true
			if _, value, ok := strings.Cut(line, " (default "); ok {
				said["(default "+strings.TrimSuffix(value, "\n")] = true
			}
		}
	})
	for _, c := range wrongUsage {
		out, _ := printed("C", c.args...)
		for line := range strings.Lines(out) {
			said[strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "agent: "), "  → "))] = true
		}
	}
	for _, pair := range i18n.HelpTexts() {
		form := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pair[0]), "%s", ".+") + "$")
		if !said[pair[0]] && !slices.ContainsFunc(slices.Collect(maps.Keys(said)), form.MatchString) {
			t.Errorf("nothing says %q", pair[0])
		}
	}
}

// sameValues wants those values of a flag in the Japanese usage that are in the English one.
func sameValues(t *testing.T, where string, values []string, en string) {
	t.Helper()
	in, have := asciiWords(en), asciiWords(i18n.Help(i18n.Ja, en))
	for _, v := range values {
		if v, _, _ = strings.Cut(v, "\t"); in[v] && !have[v] {
			t.Errorf("%s: the value %q is lost", where, v)
		}
	}
}

// untranslated are lines that stay: code, and headings of systems.
var untranslated = regexp.MustCompile(`^(  ?\S*( \* \* \* \*)? ?agent |\t|####|  # yaml-language-server|$)`)

// entry is how a line of a list begins: a flag, a command, the code of an example.
var entry = regexp.MustCompile(`^( +(-\w, )?--[a-z-]+|  [a-z]+ {2,}|  \S.*?\s{2,})`)

// TestHelpInJapanese prints the help of all commands in both languages: the lists have the same
// entries, each text is there, no English is left, and lines are not longer than 80 columns or the English ones.
func TestHelpInJapanese(t *testing.T) {
	t.Parallel()
	everyCommand(func(c *cobra.Command, path []string) {
		args := append(path, "--help")
		en, _ := printed("en_US.UTF-8", args...)
		ja, code := printed("ja_JP.UTF-8", args...)
		if code != 0 || isJapanese(en) {
			t.Errorf("%s --help: exit code %d, in English\n%s", c.CommandPath(), code, en)
		}
		for what, text := range helpTexts(c) {
			shown := strings.ReplaceAll(strings.TrimSpace(i18n.Help(i18n.Ja, text)), "`", "")
			if (what != "short" || c.Long == "") && !strings.Contains(ja, shown) {
				t.Errorf("%s --help does not show %q:\n%s", c.CommandPath(), shown, ja)
			}
		}
		english := map[string]string{}
		for line := range strings.SplitSeq(en, "\n") {
			english[entry.FindString(line)] = line
		}
		for line := range strings.SplitSeq(ja, "\n") {
			begin, limit := entry.FindString(line), 80
			if same, ok := english[begin]; begin != "" && !ok {
				t.Errorf("%s --help has no such entry in English: %q", c.CommandPath(), line)
			} else if begin != "" {
				limit = max(limit, term.Columns(same))
			}
			n := term.Columns(line)
			switch same := slices.Contains(strings.Split(en, "\n"), line); {
			case same && !untranslated.MatchString(line):
				t.Errorf("%s --help: still in English: %q", c.CommandPath(), line)
			case !same && n > limit:
				t.Errorf("%s --help: %d columns, not %d: %s", c.CommandPath(), n, limit, line)
			}
		}
	})
}

// A shell offers the same in both languages, with Japanese descriptions.
func TestCompletionInJapanese(t *testing.T) {
	t.Parallel()
	described := 0
	everyCommand(func(c *cobra.Command, path []string) {
		for _, begin := range []string{"", "-"} {
			args := append(append([]string{"__complete"}, path...), begin)
			en, _ := printed("en_US.UTF-8", args...)
			ja, _ := printed("ja_JP.UTF-8", args...)
			lines := strings.Split(ja, "\n")
			for i, line := range strings.Split(en, "\n") {
				name, _, offers := strings.Cut(line, "\t")
				if !offers {
					continue
				}
				described++
				if other, text, _ := strings.Cut(lines[i], "\t"); other != name || !isJapanese(text) {
					t.Errorf("%v: %q is offered in Japanese as %q", args, line, lines[i])
				}
			}
		}
	})
	if described < 200 {
		t.Errorf("only %d descriptions", described)
	}
}

// wrongUsage are command lines that nobody understands, and what they are told in Japanese.
var wrongUsage = []struct {
	args []string
	want string
}{
	{[]string{"frobnicate"}, `不明なコマンド: "frobnicate"（"agent"）`},
	{[]string{"lst"}, "不明なコマンド: \"lst\"（\"agent\"）\n\nもしかして:\n\tlist\n"},
	{[]string{"config", "shwo"}, "不明なコマンド: \"shwo\"（\"agent config\"）\n\nもしかして:\n\tshow\n"},
	{[]string{"help", "lst"}, "不明なコマンド: \"lst\"（\"agent help\"）\n\nもしかして:\n\tlist\n"},
	{[]string{"run", "--dryrun"}, "不明なフラグ: --dryrun\n\nもしかして:\n\t--dry-run\n  → agent run --help で使い方を"},
	{[]string{"config", "frobnicate"}, `不明なコマンド: "frobnicate"（"agent config"）`},
	{[]string{"help", "frobnicate"}, `不明なコマンド: "frobnicate"（"agent help"）`},
	{[]string{"list", "--frobnicate"}, "不明なフラグ: --frobnicate"},
	{[]string{"list", "-x"}, "不明な短縮フラグ: 'x'（-x）"},
	{[]string{"list", "--state"}, "フラグに値がありません: --state"},
	{[]string{"loop", "--interval", "x"}, `フラグ "--interval" の値 "x" は無効です: `},
	{[]string{"mcp", "workspace"}, `必須のフラグがありません: "root"`},
	{[]string{"search"}, "引数は 1 個必要です（指定: 0 個）"},
	{[]string{"ui", "a", "b"}, "引数は 1 個までです（指定: 2 個）"},
	{[]string{"why"}, "why には TASK が必要です（agent list で確認できます）"},
	{[]string{"list", "more"}, `list に引数は指定できません: "more"`},
	{[]string{"replay", "a", "b"}, "replay に指定できる CONTEXT は 1 つです（指定: 2 個）"},
	{[]string{"diff", "a", "b", "c"}, "diff の引数は CONTEXT [CONTEXT] です（指定: 3 個）"},
	{[]string{"completion"}, "シェルを指定してください: bash、zsh、fish、powershell"},
	{[]string{"pause"}, "タスクまたは --all を指定してください"},
	{[]string{"rebuild"}, "コンテキスト、--all、--index のいずれかを指定してください"},
	{[]string{"restore", "3f2a"}, "ディレクトリを指定してください: --to DIR"},
}

var helpHint = regexp.MustCompile(`→ agent( --help でコマンドの一覧|( [a-z]+)+ --help で使い方)を表示できます`)

func TestWrongUsageInJapanese(t *testing.T) {
	t.Parallel()
	for _, c := range wrongUsage {
		got, code := printed("ja_JP.UTF-8", c.args...)
		if code != cli.ExitUsage || !strings.HasPrefix(got, "agent: "+c.want) {
			t.Errorf("%q: exit code %d\n%s\nwant %s", c.args, code, got, c.want)
		}
		if !helpHint.MatchString(got) && !strings.Contains(got, "agent list") {
			t.Errorf("%q: no hint in\n%s", c.args, got)
		}
	}
}

// Manual pages are the same in every locale: packages have them, and their bytes are to be reproduced.
func TestManualIsEnglish(t *testing.T) {
	t.Parallel()
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for i, locale := range []string{"en_US.UTF-8", "ja_JP.UTF-8"} {
		if out, code := printed(locale, "docs", "man", dirs[i]); code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
	}
	pages, err := os.ReadDir(dirs[0])
	if err != nil || len(pages) < 20 {
		t.Fatal(len(pages), err)
	}
	for _, page := range pages {
		en, _ := os.ReadFile(dirs[0] + "/" + page.Name())
		ja, _ := os.ReadFile(dirs[1] + "/" + page.Name())
		if !bytes.Equal(en, ja) {
			t.Errorf("%s is another one in Japanese", page.Name())
		}
	}
}
