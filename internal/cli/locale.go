package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agent/internal/i18n"
)

// locale is the language of help and of errors of usage. They need no configuration, which may
// name another language.
func (e *Env) locale() i18n.Lang { return i18n.FromEnv(e.Getenv) }

// completes tells whether a shell asks what it can complete.
func completes(args []string) bool {
	return len(args) > 0 && slices.Contains([]string{cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, args[0])
}

// translate puts what commands and their flags say of themselves into a language.
func translate(c *cobra.Command, lang i18n.Lang) {
	if lang == i18n.En {
		return
	}
	c.InitDefaultHelpFlag() // the library does it later
	c.Short, c.Long, c.Example = i18n.Help(lang, c.Short), i18n.Help(lang, c.Long), comments(c.Example, lang)
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = i18n.Help(lang, f.Usage) })
	for _, sub := range c.Commands() {
		translate(sub, lang)
	}
}

// comments puts those of an example into a language. They stand behind two blanks or more.
func comments(example string, lang i18n.Lang) string {
	lines := strings.Split(example, "\n")
	for i, line := range lines {
		if at := strings.LastIndex(line, "  ") + 2; at > 2 {
			code, comment := line[:at], line[at:]
			text, marked := strings.CutPrefix(comment, "# ")
			if marked {
				code += "# "
			}
			lines[i] = code + i18n.Help(lang, text)
		}
	}
	return strings.Join(lines, "\n")
}

// firstLines puts the first line of each paragraph into a language.
func firstLines(text string, lang i18n.Lang) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		line, _, _ := strings.Cut(p, "\n")
		paragraphs[i] = i18n.Help(lang, line) + p[len(line):]
	}
	return strings.Join(paragraphs, "\n\n")
}
