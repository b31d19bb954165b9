package cli

import "strings"

// With is what a command that is printed for people has to repeat of this command line, so that
// it finds the same contexts. It begins with a space, or is empty.
func (e *Env) With() (flags string) {
	if e.ConfigPath != "" {
		flags += " --config " + Quoted(e.ConfigPath)
	}
	if e.ContextsDir != "" {
		flags += " --contexts " + Quoted(e.ContextsDir)
	}
	return flags
}

// Quoted is a word for a shell.
func Quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:@%,=") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
