package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent/forge"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/i18n"
)

const (
	skewWarning = 30 * time.Second
	skewBad     = 5 * time.Minute // tokens of apps and certificates stop working about there
	fewRequests = 100
)

// checkForge looks at the token, the clock, and every project of one forge.
func (d *doctor) checkForge(at app.Site) {
	ctx, cancel := d.within(5 * time.Minute)
	defer cancel()
	d.checkReplaced(at.Host, d.forgePath(at)+".personal_access_token")
	me, err := at.Client.Me(ctx)
	if err != nil {
		d.note(at.Host, bad, err.Error(), d.todoForge(err, at.Config.Kind))
		return
	}
	d.ok(at.Host, "doctor.token", me.Login)
	if name := at.Config.BotName; name != "" && !strings.EqualFold(name, me.Login) {
		d.note(at.Host, warning, d.text("doctor.bot", me.Login, name), d.text("doctor.todo.bot", me.Login))
	}
	api := newRest(at.Config)
	api.token = tokenOf(ctx, at)
	d.checkToken(ctx, at, api)
	for _, project := range at.Config.Projects {
		d.checkProject(ctx, at, api, project, me)
	}
	if len(at.Config.Projects) == 0 {
		d.checkSearch(ctx, at)
	}
}

// forgePath is where a forge stands in the configuration.
func (d *doctor) forgePath(at app.Site) string {
	i := slices.IndexFunc(d.App.Config.Section(at.Config.Kind), func(f config.Forge) bool { return f.APIURL == at.Config.APIURL })
	return fmt.Sprintf("%s[%d]", at.Config.Kind, i)
}

// checkReplaced tells of a variable that stands in for another value of the file:
// who changes the file wonders why nothing happens.
func (d *doctor) checkReplaced(check, path string) {
	if name := d.App.Config.Replaced(path); name != "" {
		d.note(check, warning, d.text("doctor.replaced", name, strings.Replace(path, "[0]", "", 1)), d.text("doctor.todo.replaced"))
	}
}

// tokenOf is the token that requests carry, which an app renews now and then.
func tokenOf(ctx context.Context, at app.Site) string {
	if token, err := at.Token(ctx); err == nil {
		return token
	}
	return at.Config.Token
}

func (d *doctor) todoForge(err error, kind string) string {
	id := i18n.ID("doctor.todo.forge.other")
	var failed *forge.Error
	if errors.As(err, &failed) {
		id = known("doctor.todo.forge.", string(failed.Kind))
	}
	return d.text(id, strings.ToUpper(kind), kind)
}

// checkToken reads what the headers of one answer tell.
func (d *doctor) checkToken(ctx context.Context, at app.Site, api *rest) {
	got, err := api.get(ctx, "/rate_limit")
	if at.Config.Kind == "gitlab" {
		got, err = api.get(ctx, "/user")
	}
	if err != nil {
		d.note(at.Host, warning, err.Error(), "")
		return
	}
	d.checkScopes(ctx, at, api, got.header)
	d.checkClock(at, got)
	d.checkRate(at, got.header)
}

// checkScopes tells of scopes where the forge names them. Tokens with
// permissions per project have none; the projects are tried anyway.
func (d *doctor) checkScopes(ctx context.Context, at app.Site, api *rest, h http.Header) {
	scopes, wanted := splitScopes(h.Get("X-Oauth-Scopes")), []string{"repo", "public_repo"}
	if at.Config.Kind == "gitlab" {
		scopes, wanted = gitlabScopes(ctx, api), []string{"api"}
	}
	named := strings.Join(scopes, ", ")
	switch {
	case len(scopes) == 0:
		d.ok(at.Host, "doctor.scopes.none")
	case !slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(wanted, s) }):
		d.note(at.Host, bad, d.text("doctor.scopes.few", named), d.text("doctor.todo.scopes", wanted[0]))
	default:
		d.ok(at.Host, "doctor.scopes", named)
	}
}

func splitScopes(header string) []string {
	return strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ' ' })
}

func gitlabScopes(ctx context.Context, api *rest) []string {
	var self struct {
		Scopes []string `json:"scopes"`
	}
	got, err := api.get(ctx, "/personal_access_tokens/self")
	if err != nil || got.status != http.StatusOK || json.Unmarshal(got.body, &self) != nil {
		return nil // other kinds of token have none
	}
	return self.Scopes
}

func (d *doctor) checkClock(at app.Site, got answer) {
	theirs, err := http.ParseTime(got.header.Get("Date"))
	if err != nil {
		d.note(at.Host, warning, d.text("doctor.clock.none"), "")
		return
	}
	// The header has whole seconds, cut off: on average half of one is missing.
	skew := got.sent.Add(got.took / 2).Sub(theirs.Add(time.Second / 2)).Round(time.Second)
	switch {
	case skew.Abs() > skewBad:
		d.note(at.Host, bad, d.text("doctor.clock", skew), d.text("doctor.todo.clock"))
	case skew.Abs() > skewWarning:
		d.note(at.Host, warning, d.text("doctor.clock", skew), d.text("doctor.todo.clock"))
	default:
		d.ok(at.Host, "doctor.clock", skew)
	}
}

func (d *doctor) checkRate(at app.Site, h http.Header) {
	left, err := strconv.Atoi(firstOf(h, "X-Ratelimit-Remaining", "Ratelimit-Remaining"))
	limit := firstOf(h, "X-Ratelimit-Limit", "Ratelimit-Limit")
	switch {
	case err != nil: // none is told, as on many servers of one's own
	case left < fewRequests:
		d.note(at.Host, warning, d.text("doctor.rate", left, limit), d.text("doctor.todo.rate"))
	default:
		d.ok(at.Host, "doctor.rate", left, limit)
	}
}

func firstOf(h http.Header, names ...string) string {
	for _, name := range names {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// checkSearch tries the search that stands in for a list of projects.
func (d *doctor) checkSearch(ctx context.Context, at app.Site) {
	tasks, err := at.Client.ListTasks(ctx, at.Config.BotLabel)
	if err != nil {
		d.note(at.Host, bad, err.Error(), d.todoForge(err, at.Config.Kind))
		return
	}
	for _, t := range tasks {
		if !t.Private && !slices.Contains(d.public, t.Key.Project) {
			d.public = append(d.public, t.Key.Project)
		}
	}
	d.ok(at.Host, "doctor.search", at.Config.Owner, len(tasks), at.Config.BotLabel)
}

// checkProject tries to reach a project, may write there, and knows its labels.
func (d *doctor) checkProject(ctx context.Context, at app.Site, api *rest, project string, me forge.Account) {
	key := forge.TaskKey{Host: at.Host, Project: project, Kind: issueKind(at.Config), Number: 1}
	repo, err := at.Client.Repository(ctx, key)
	if err != nil {
		d.note(project, bad, err.Error(), d.text("doctor.todo.project"))
		return
	}
	if !repo.Private {
		d.public = append(d.public, project)
	}
	may, err := at.Client.Permission(ctx, key, me.Login)
	switch {
	case err != nil:
		d.note(project, warning, d.text("doctor.project.unknown", err), d.text("doctor.todo.write"))
	case may < forge.Write:
		d.note(project, bad, d.text("doctor.project.read"), d.text("doctor.todo.write"))
	default:
		d.ok(project, "doctor.project", repo.DefaultBranch)
	}
	d.checkLabels(ctx, at, api, project)
}

func issueKind(f config.Forge) forge.Kind {
	if f.Kind == "gitlab" {
		return forge.GitLabIssue
	}
	return forge.GitHubIssue
}

// checkLabels names the labels that the project lacks. All but the one that
// starts the work are made when they are needed.
func (d *doctor) checkLabels(ctx context.Context, at app.Site, api *rest, project string) {
	missing, err := missingLabels(ctx, at.Config, api, project)
	var names []string
	for _, l := range missing {
		names = append(names, l.name)
	}
	switch {
	case err != nil:
		d.note(project, warning, d.text("doctor.labels.unknown", err), "")
	case slices.Contains(names, at.Config.BotLabel):
		d.note(project, warning, d.text("doctor.labels.bot", at.Config.BotLabel), d.text("doctor.todo.labels"))
	case len(names) > 0:
		d.ok(project, "doctor.labels.later", strings.Join(names, ", "))
	default:
		d.ok(project, "doctor.labels")
	}
}

// missingLabels asks for one label after the other: lists can be long.
func missingLabels(ctx context.Context, f config.Forge, api *rest, project string) (missing []look, err error) {
	for _, l := range looks(f) {
		got, err := api.get(ctx, labelPath(f.Kind, project)+"/"+url.PathEscape(l.name))
		switch {
		case err != nil:
			return nil, err
		case got.status == http.StatusNotFound:
			missing = append(missing, l)
		case got.status != http.StatusOK:
			return nil, errors.New("HTTP " + strconv.Itoa(got.status))
		}
	}
	return missing, nil
}
