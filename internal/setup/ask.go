package setup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/lazyregexp"
	"agent/internal/redact"
	"agent/internal/registry"
	"agent/internal/sanitize"
	"agent/llm"
)

// question asks for one answer.
type question struct {
	text, refusal string
	answer        *string
	preset        string
	valid         func(string) bool
	tidy          func(string) string                 // what is meant by an answer; nil: what it says
	check         func(context.Context, string) found // asks a server; nil: there is none to ask
}

// questions are all of them, in order. Texts and presets depend on earlier
// answers, so each is made when it is its turn.
func (a *Answers) questions(projects *string) []func() question {
	ask := func(name i18n.ID, args ...any) (text, refusal string) {
		return a.text("init.ask."+name, args...), a.text("init.bad."+name, args...)
	}
	all := []func() question{
		func() question {
			text, refusal := ask("lang")
			return question{text, refusal, &a.Lang, "auto", oneOf("auto", "en", "ja"), nil, nil}
		},
		func() question {
			text, refusal := ask("forge", strings.Join(registry.RemoteForges(), ", "))
			if a.ForgeURL != "" {
				a.Forge = cmp.Or(a.Forge, a.driver().Name)
			}
			return question{text, refusal, &a.Forge, a.driver().Name, oneOf(registry.RemoteForges()...), nil, nil}
		},
		func() question {
			text, refusal := ask("url", a.driver().Title, a.driver().APIURL)
			return question{text, refusal, &a.ForgeURL, a.driver().APIURL, a.forgeAddress, a.apiURL, nil}
		},
		func() question {
			text, refusal := ask("token", a.driver().Title)
			return question{text, refusal, &a.TokenEnv, a.driver().TokenEnv(), envName.MatchString, nil, a.checkToken}
		},
		func() question {
			text, refusal := ask("repos", a.driver().ProjectForm)
			return question{text, refusal, projects, "", a.validProjects, projectNames, a.checkProjects}
		},
		func() question {
			text, refusal := ask("bot")
			return question{text, refusal, &a.BotName, a.login, singleWord, nil, nil}
		},
		func() question {
			text, refusal := ask("provider", strings.Join(registry.ProviderNames(), ", "))
			return question{text, refusal, &a.Provider, registry.Providers[0].Name, oneOf(registry.ProviderNames()...), nil, nil}
		},
		func() question {
			text, refusal := ask("base", a.provider().URL)
			return question{text, refusal, &a.BaseURL, a.provider().URL, address, nil, nil}
		},
		func() question {
			text, refusal := ask("model")
			return question{text, refusal, &a.Model, a.provider().Model, oneLine, nil, a.checkModel}
		},
		func() question {
			text, refusal := ask("limit")
			return question{text, refusal, &a.MaxTokens, "2000000", wholeNumber.MatchString, nil, nil}
		},
		func() question {
			if _, priced := llm.PriceOf(a.Model); !priced {
				return question{} // money cannot be counted
			}
			text, refusal := ask("usd")
			return question{text, refusal, &a.MaxCostUSD, "0", amount.MatchString, nil, nil}
		},
	}
	if a.NoSandbox != "" || a.Sandbox != "" {
		all = append(all, func() question {
			text, refusal := ask("sandbox", a.NoSandbox)
			return question{text, refusal, &a.Sandbox, "off", oneOf("off", "required"), nil, nil}
		})
	}
	return all
}

// Ask asks for what is empty, each thing until its answer is valid or in ends. The
// error is that of ctx: a person who interrupts it wants no further question.
func (a *Answers) Ask(ctx context.Context, in *bufio.Reader, out io.Writer) error {
	projects := strings.Join(a.Projects, ",")
	lines := make(chan answered)
	go func() { // stays at a read of the terminal after an interruption, and ends with the program
		defer close(lines)
		for {
			line, err := in.ReadString('\n')
			select {
			case lines <- answered{line, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for _, next := range a.questions(&projects) {
		if err := a.ask(ctx, next(), lines, out); err != nil {
			return err
		}
	}
	a.Projects = listed(projects)
	return nil
}

// ask asks one question until its answer is valid. An answer that a server knows nothing
// of is asked for again, and taken if the person keeps it.
func (a *Answers) ask(ctx context.Context, q question, lines <-chan answered, out io.Writer) error {
	kept := ""
	for q.answer != nil && *q.answer == "" {
		fmt.Fprint(out, q.text+shown(cmp.Or(kept, q.preset))+": ")
		line, more := answered{}, true
		select {
		case line, more = <-lines:
		case <-ctx.Done():
			fmt.Fprintln(out)
			return ctx.Err()
		}
		answer := q.meant(cmp.Or(strings.TrimSpace(line.text), kept, q.preset))
		wrong := a.wrong(q, answer)
		if wrong == "" && answer != "" && answer != kept {
			said := a.checked(ctx, q, answer)
			if said.text != "" {
				fmt.Fprintln(out, "  "+sanitize.Terminal(said.text))
			}
			if said.bad {
				kept = answer
				wrong = a.text("init.check.keep")
			}
		}
		if wrong == "" {
			*q.answer = answer
		}
		if wrong == "" && answer == "" || line.err != nil || !more { // an answer that may be left out; or no more of them
			return nil
		}
		if wrong != "" {
			fmt.Fprintln(out, "  "+wrong)
		}
	}
	return nil
}

// answered is a line of a person.
type answered struct {
	text string
	err  error
}

func (q question) meant(answer string) string {
	if q.tidy == nil {
		return answer
	}
	return q.tidy(answer)
}

// shown is how a question says what no answer means.
func shown(preset string) string {
	if preset == "" {
		return ""
	}
	return " [" + preset + "]"
}

// Complete sets the presets and refuses answers that are not valid.
func (a *Answers) Complete() error {
	projects := strings.Join(a.Projects, ",")
	for _, next := range a.questions(&projects) {
		q := next()
		if q.answer == nil {
			continue
		}
		*q.answer = q.meant(cmp.Or(*q.answer, q.preset))
		if wrong := a.wrong(q, *q.answer); wrong != "" {
			return errors.New(wrong)
		}
	}
	a.Projects = listed(projects)
	return a.resolveWorkspace()
}

// resolveWorkspace makes the directory to work in absolute.
func (a *Answers) resolveWorkspace() error {
	if a.Workspace == "" {
		return nil
	}
	abs, err := filepath.Abs(a.Workspace)
	if err != nil {
		return err
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return errors.New(a.text("init.bad.workspace"))
	}
	a.Workspace = abs
	return nil
}

// wrong says what is wrong with an answer, and never repeats it: it may be a token.
func (a *Answers) wrong(q question, answer string) string {
	switch {
	case tokenLike(answer):
		return a.text("init.bad.secret")
	case !q.valid(answer):
		return q.refusal
	}
	return ""
}

var (
	envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

	wholeNumber = lazyregexp.New(`^[0-9]{1,15}$`)
	amount      = lazyregexp.New(`^[0-9]{1,9}(\.[0-9]{1,4})?$`)

	random = lazyregexp.New(`^[A-Za-z0-9+=]{20,}$`)
)

// tokenLike reports whether a text has the form of a known kind of token, or is
// long and as mixed as only random texts are.
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

// forgeAddress reports whether an address can be that of the API: a page of an item is none.
func (a *Answers) forgeAddress(s string) bool {
	return address(s) && !slices.ContainsFunc([]string{"/issues/", "/pull/", "/-/"}, func(page string) bool { return strings.Contains(s, page) })
}

// apiURL is the API that is meant by the address of a page of the forge that everybody
// knows, such as https://github.com/owner/repo.
func (a *Answers) apiURL(s string) string {
	if u, err := url.Parse(s); err == nil && strings.EqualFold(u.Host, a.driver().Host(a.driver().APIURL)) && !strings.HasPrefix(s, a.driver().APIURL) {
		return a.driver().APIURL
	}
	return s
}

// projectNames are the projects that are meant by pasted addresses of their pages.
func projectNames(names string) string {
	all := listed(names)
	for i, name := range all {
		u, err := url.Parse(name)
		if err != nil || u.Host == "" {
			continue
		}
		path := strings.Trim(u.Path, "/")
		for _, page := range []string{"/-/", "/issues", "/pull", "/tree/", "/blob/"} {
			path, _, _ = strings.Cut(path, page)
		}
		all[i] = strings.TrimSuffix(path, ".git")
	}
	return strings.Join(all, ",")
}

func singleWord(s string) bool { return !strings.ContainsAny(s, " \t\"") && (s == "" || oneLine(s)) }

func oneLine(s string) bool { return s != "" && !strings.ContainsFunc(s, unicode.IsControl) }

func listed(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// validProjects reports whether these are names of projects, at least one.
func (a *Answers) validProjects(names string) bool {
	all := listed(names)
	return len(all) > 0 && !slices.ContainsFunc(all, func(n string) bool { return !a.driver().ValidProject(n) })
}
