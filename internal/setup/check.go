package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent/forge"
	"agent/internal/config"
	"agent/internal/redact"
	"agent/llm"
)

// checkTime bounds each question to a server.
const checkTime = 10 * time.Second

// found is what a check says of an answer.
type found struct {
	text string // "" if there is nothing to say
	bad  bool   // the answer is probably wrong; a person may keep it
}

func (a *Answers) env(name string) string {
	if a.Getenv == nil {
		return ""
	}
	return a.Getenv(name)
}

// problem says what went wrong, without the secrets that were used.
func problem(err error, secrets ...string) found {
	text, _ := redact.New(secrets).String(err.Error())
	return found{text, true}
}

// conn is a client of the forge with the token of a variable, nil if that is not set. Its
// list of projects is not used.
func (a *Answers) conn(variable string) (forge.Conn, error) {
	token := a.env(variable)
	if token == "" {
		return nil, nil
	}
	return a.driver().New(forge.Options{APIURL: a.ForgeURL, Token: token, Projects: []string{a.driver().ProjectForm}})
}

// checkToken asks the forge whose token the variable holds.
func (a *Answers) checkToken(ctx context.Context, name string) found {
	conn, err := a.conn(name)
	switch {
	case err != nil:
		return problem(err, a.env(name))
	case conn == nil:
		return found{a.text("init.check.unset", name), false}
	}
	defer conn.Close()
	me, err := conn.Me(ctx)
	if a.refused = err != nil; a.refused {
		return problem(err, a.env(name))
	}
	a.login = me.Login
	return found{a.text("init.check.token", me.Login), false}
}

// checkProjects asks for each project.
func (a *Answers) checkProjects(ctx context.Context, names string) found {
	conn, err := a.conn(a.TokenEnv)
	if err != nil || conn == nil || a.refused {
		return found{} // said at the token
	}
	defer conn.Close()
	var bad []string
	for _, project := range listed(names) {
		_, err := conn.Repository(ctx, forge.TaskKey{Host: conn.Host(), Project: project, Kind: a.driver().Issue, Number: 1})
		var failed *forge.Error
		if errors.As(err, &failed) && (failed.Kind == forge.NotFound || failed.Kind == forge.Hidden || failed.Kind == forge.Forbidden) {
			bad = append(bad, a.text("init.check.project", project))
		} else if err != nil {
			bad = append(bad, problem(err, a.env(a.TokenEnv)).text)
		}
	}
	if len(bad) > 0 {
		return found{strings.Join(bad, "\n  "), true}
	}
	return found{a.text("init.check.projects"), false}
}

// checkModel asks the server for its models.
func (a *Answers) checkModel(ctx context.Context, model string) found {
	d := a.provider()
	key := ""
	if d.Key {
		if key = a.env(d.KeyEnv()); key == "" && !config.Loopback(a.BaseURL) {
			return found{a.text("init.check.unset", d.KeyEnv()), false}
		}
	}
	p, err := d.New(llm.Options{URL: a.BaseURL, APIKey: key, Model: model, Timeout: checkTime, Window: d.ContextLength})
	if err != nil {
		return problem(err, key)
	}
	checker, ok := p.(llm.Checker)
	if !ok {
		return found{}
	}
	info, err := checker.Check(ctx)
	switch {
	case err == nil:
		return found{a.text("init.check.model", d.Title), false}
	case info.Reachable && !info.ModelPresent && len(info.Models) > 0:
		return found{a.text("init.check.absent", model, few(info.Models)), true}
	}
	return problem(fmt.Errorf("%s: %w", a.BaseURL, err), key)
}

// few are the first of many names.
func few(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(", … (+%d)", len(names)-most)
}

// checked tells of a valid answer what the servers say to it, and whether it can be right.
func (a *Answers) checked(ctx context.Context, q question, answer string) found {
	if q.check == nil || a.Getenv == nil {
		return found{}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return q.check(ctx, answer)
}
