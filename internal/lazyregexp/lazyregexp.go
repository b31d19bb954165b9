// Package lazyregexp compiles regular expressions at their first use. A command
// starts many times a day and needs few of the program's patterns.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a pattern. It may be used by several goroutines at once.
type Regexp struct{ compiled func() *regexp.Regexp }

// New notes a pattern. A wrong one panics when it is first used.
func New(pattern string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
}

// The methods are those of [regexp.Regexp].

func (r *Regexp) MatchString(s string) bool            { return r.compiled().MatchString(s) }
func (r *Regexp) FindString(s string) string           { return r.compiled().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int       { return r.compiled().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) ReplaceAllString(s, repl string) string {
	return r.compiled().ReplaceAllString(s, repl)
}
func (r *Regexp) ReplaceAllStringFunc(s string, repl func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, repl)
}
func (r *Regexp) Match(b []byte) bool              { return r.compiled().Match(b) }
func (r *Regexp) FindIndex(b []byte) []int         { return r.compiled().FindIndex(b) }
func (r *Regexp) ReplaceAll(b, repl []byte) []byte { return r.compiled().ReplaceAll(b, repl) }
func (r *Regexp) Split(s string, n int) []string   { return r.compiled().Split(s, n) }
func (r *Regexp) String() string                   { return r.compiled().String() }
