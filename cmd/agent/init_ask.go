package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/redact"
	"agent/internal/registry"
)

// question is one answer that a setup needs.
type question struct {
	text, refusal i18n.ID
	answer        *string
	preset        string
	right         func(string) bool
}

// questions are all of them, in order; presets depend on earlier answers, so each
// is made when it is its turn.
func (s *setup) questions(repos *string) []func() question {
	return []func() question{
		func() question {
			return question{"init.ask.lang", "init.bad.lang", &s.Lang, "auto", oneOf("auto", "en", "ja")}
		},
		func() question {
			return question{"init.ask.forge", "init.bad.forge", &s.ForgeURL, "https://api.github.com", address}
		},
		func() question {
			return question{"init.ask.repos", "init.bad.repos", repos, "", s.projects}
		},
		func() question {
			return question{"init.ask.token", "init.bad.token", &s.TokenEnv, s.tokenEnv(), envName.MatchString}
		},
		func() question {
			return question{"init.ask.bot", "init.bad.bot", &s.BotName, "", singleWord}
		},
		func() question {
			return question{"init.ask.provider", "init.bad.provider", &s.Provider, "openai", oneOf("openai", "ollama", "lmstudio")}
		},
		func() question {
			return question{"init.ask.model", "init.bad.model", &s.Model, defaultModel(s.Provider), oneLine}
		},
		func() question {
			return question{"init.ask.base", "init.bad.base", &s.BaseURL, defaultBase(s.Provider), address}
		},
	}
}

// ask asks for what the flags left open, each thing until the answer can be.
func (s *setup) ask(in *bufio.Reader, out io.Writer) {
	repos := strings.Join(s.Repos, ",")
	for _, next := range s.questions(&repos) {
		q := next()
		for *q.answer == "" {
			fmt.Fprint(out, i18n.Text(s.tongue(), q.text)+preset(q.preset)+": ")
			line, err := in.ReadString('\n')
			answer := cmp.Or(strings.TrimSpace(line), q.preset)
			bad := s.wrong(q, answer)
			if bad == "" {
				*q.answer = answer
			}
			if bad == "" && answer == "" || err != nil { // an answer that may be left out; or no more of them
				break
			}
			if bad != "" {
				fmt.Fprintln(out, "  "+bad)
			}
		}
	}
	s.Repos = listed(repos)
}

// preset is how a question shows what no answer means.
func preset(answer string) string {
	if answer == "" {
		return ""
	}
	return " [" + answer + "]"
}

// complete sets the presets and refuses what cannot be.
func (s *setup) complete() error {
	s.KeyEnv = "OPENAI_API_KEY"
	repos := strings.Join(s.Repos, ",")
	for _, next := range s.questions(&repos) {
		q := next()
		*q.answer = cmp.Or(*q.answer, q.preset)
		if bad := s.wrong(q, *q.answer); bad != "" {
			return errors.New(bad)
		}
	}
	return s.place()
}

// place makes the directory to work in absolute.
func (s *setup) place() error {
	if s.Workspace == "" {
		return nil
	}
	abs, err := filepath.Abs(s.Workspace)
	if err != nil {
		return err
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return errors.New(i18n.Text(s.tongue(), "init.bad.workspace"))
	}
	s.Workspace = abs
	return nil
}

// wrong says what is wrong with an answer, and never repeats it: it may be a token.
func (s *setup) wrong(q question, answer string) string {
	switch {
	case tokenLike(answer):
		return i18n.Text(s.tongue(), "init.bad.secret")
	case !q.right(answer):
		return i18n.Text(s.tongue(), q.refusal)
	}
	return ""
}

var (
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	random  = regexp.MustCompile(`^[A-Za-z0-9+=]{20,}$`)
)

// tokenLike tells whether a text has the form of a known kind of token, or is long
// and as mixed as only random texts are.
func tokenLike(s string) bool {
	if _, known := redact.New(nil).String(s); known {
		return true
	}
	return random.MatchString(s) && strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsFunc(s, unicode.IsLower)
}

func oneOf(words ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(words, s) }
}

func address(s string) bool { return config.BadURL(s, false) == "" }

func singleWord(s string) bool { return !strings.ContainsAny(s, " \t\"") && (s == "" || oneLine(s)) }

func oneLine(s string) bool { return s != "" && !strings.ContainsFunc(s, unicode.IsControl) }

func listed(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// projects tells whether these are names of projects, at least one.
func (s *setup) projects(repos string) bool {
	names := listed(repos)
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !registry.ForgeOfURL(s.ForgeURL).ValidProject(n) })
}
