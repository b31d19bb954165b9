package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent/forge"
	"agent/forge/probe"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/git"
	"agent/internal/i18n"
)

const (
	clockWarning = 30 * time.Second
	clockFailed  = 5 * time.Minute // tokens of apps and certificates stop working about there
	fewRequests  = 100
)

// site is one forge under examination.
type site struct {
	app.Site
	driver forge.Driver
	probe  *probe.Probe
	me     forge.Account
}

// checkForge looks at the token, the clock, and every project of one forge.
func (d *doctor) checkForge(at app.Site) {
	ctx, cancel := d.within(5 * time.Minute)
	defer cancel()
	s := site{Site: at, driver: at.Config.Driver}
	d.checkReplaced(s.Host, d.sectionOf(s.Config)+".personal_access_token")
	var err error
	if s.me, err = s.Client.Me(ctx); err != nil {
		d.note(s.Host, Failed, err.Error(), d.todoForge(err, s))
		return
	}
	d.ok(s.Host, "doctor.token", s.me.Login)
	if name := s.Config.BotName; name != "" && !strings.EqualFold(name, s.me.Login) {
		d.note(s.Host, Warning, d.text("doctor.bot", s.me.Login, name), d.text("doctor.todo.bot", s.me.Login))
	}
	if d.Config.Planning.Approval != "never" {
		d.howToApprove(s)
	}
	token, _ := s.Token(ctx) // Me has just used it
	s.probe = probe.New(s.driver, s.Config.APIURL, cmp.Or(token, s.Config.Token))
	d.checkToken(ctx, s)
	for _, project := range s.Config.Projects {
		d.checkProject(ctx, s, project)
	}
	if len(s.Config.Projects) == 0 {
		d.checkSearch(ctx, s)
	}
	if c, ok := s.Client.(forge.InTurns); ok {
		d.checkTurns(ctx, s, c)
	}
}

// sectionOf is where a forge is in the configuration: "github[0]".
func (d *doctor) sectionOf(f config.Forge) string {
	n := slices.IndexFunc(d.Config.Section(f.Kind), func(other config.Forge) bool { return other.APIURL == f.APIURL })
	return fmt.Sprintf("%s[%d]", f.Kind, n)
}

func (d *doctor) todoForge(err error, s site) string {
	id := i18n.ID("doctor.todo.forge.other")
	var failed *forge.Error
	if errors.As(err, &failed) {
		id = i18n.OrOther("doctor.todo.forge.", string(failed.Kind))
	}
	if s.Config.App.ID != 0 && id == "doctor.todo.forge.auth" {
		id = "doctor.todo.forge.app"
	}
	return d.text(id, s.driver.TokenEnv(), s.driver.Name)
}

// checkToken looks at what one answer tells of the token, the clock and the rate limit.
func (d *doctor) checkToken(ctx context.Context, s site) {
	t, err := s.probe.Token(ctx)
	if err != nil {
		d.note(s.Host, Warning, err.Error(), "")
		return
	}
	scopes := cmp.Or(strings.Join(t.Scopes, ", "), "-")
	switch {
	case !t.HasScopes:
		d.ok(s.Host, "doctor.scopes.none")
	case !t.Enough:
		d.note(s.Host, Failed, d.text("doctor.scopes.few", scopes), d.text("doctor.todo.scopes", s.driver.WantScopes[0]))
	default:
		d.ok(s.Host, "doctor.scopes", scopes)
	}
	d.checkClock(s, t)
	switch {
	case !t.HasRate: // many self-managed servers have no limit
	case t.Left < fewRequests:
		d.note(s.Host, Warning, d.text("doctor.rate", t.Left, t.Limit), d.text("doctor.todo.rate"))
	default:
		d.ok(s.Host, "doctor.rate", t.Left, t.Limit)
	}
}

func (d *doctor) checkClock(s site, t probe.Token) {
	switch {
	case !t.HasClock:
		d.note(s.Host, Warning, d.text("doctor.clock.none"), "")
	case t.Ahead.Abs() > clockFailed:
		d.note(s.Host, Failed, d.text("doctor.clock", t.Ahead), d.text("doctor.todo.clock"))
	case t.Ahead.Abs() > clockWarning:
		d.note(s.Host, Warning, d.text("doctor.clock", t.Ahead), d.text("doctor.todo.clock"))
	default:
		d.ok(s.Host, "doctor.clock", t.Ahead)
	}
}

// checkTurns says how long new issues may wait where projects are asked in turns.
func (d *doctor) checkTurns(ctx context.Context, s site, c forge.InTurns) {
	if _, err := s.Client.ListTasks(ctx, s.Config.BotLabel); err != nil {
		return // what is wrong is said of each project
	}
	if within := c.EachWithin(); within > 0 {
		d.note(s.Host, Warning, d.text("doctor.turns", len(s.Config.Projects), within.Round(time.Minute)), d.text("doctor.todo.turns"))
	}
}

// checkSearch tries the search that replaces a list of projects.
func (d *doctor) checkSearch(ctx context.Context, s site) {
	tasks, err := s.Client.ListTasks(ctx, s.Config.BotLabel)
	if err != nil {
		d.note(s.Host, Failed, err.Error(), d.todoForge(err, s))
		return
	}
	for _, t := range tasks {
		if !t.Private && !slices.Contains(d.public, t.Key.Project) {
			d.public = append(d.public, t.Key.Project)
		}
	}
	d.ok(s.Host, "doctor.search", s.Config.Owner, len(tasks), s.Config.BotLabel)
}

// checkProject wants a project to be readable, writable, and to have its labels.
func (d *doctor) checkProject(ctx context.Context, s site, project string) {
	key := forge.TaskKey{Host: s.Host, Project: project, Kind: s.driver.Issue, Number: 1}
	repo, err := s.Client.Repository(ctx, key)
	if err != nil {
		d.note(project, Failed, err.Error(), d.text("doctor.todo.project"))
		return
	}
	if !repo.Private {
		d.public = append(d.public, project)
	}
	d.checkClone(ctx, s, project, repo.CloneURL)
	may, err := s.Client.Permission(ctx, key, s.me.Login)
	switch {
	case err != nil:
		d.note(project, Warning, d.text("doctor.project.unknown", err), d.text("doctor.todo.write"))
	case may < forge.Write:
		d.note(project, Failed, d.text("doctor.project.read"), d.text("doctor.todo.write"))
	default:
		d.ok(project, "doctor.project", repo.DefaultBranch)
	}
	d.checkLabels(ctx, s, project)
}

// checkClone lets git ask the repository, which has a network stack, a proxy and
// certificates of its own.
func (d *doctor) checkClone(ctx context.Context, s site, project, url string) {
	if s.Config.Workspace != "" {
		return
	}
	if err := app.AllowClone(s.Config, url); err != nil {
		d.note(project, Failed, err.Error(), d.text("fault.todo.clone"))
		return
	}
	token, err := s.Token(ctx)
	if err == nil {
		err = git.Reach(ctx, git.Options{URL: url, Token: token, AllowHTTP: d.Config.AllowHTTP})
	}
	var failed *git.Error
	switch {
	case err == nil:
		d.ok(project, "doctor.clone")
	case errors.As(err, &failed):
		d.note(project, Failed, err.Error(), d.text(i18n.OrOther("doctor.todo.clone.", string(failed.Kind))))
	default:
		d.note(project, Failed, err.Error(), d.todoForge(err, s))
	}
}

func namesOf(labels []forge.Label) (names []string) {
	for _, l := range labels {
		names = append(names, l.Name)
	}
	return names
}

// checkLabels names the labels that the project lacks, or creates them if that is wished. All but the one that
// starts the work are created when they are needed.
func (d *doctor) checkLabels(ctx context.Context, s site, project string) {
	missing, err := s.probe.MissingLabels(ctx, project, s.Config.Labels())
	names := namesOf(missing)
	switch {
	case err != nil:
		d.note(project, Warning, d.text("doctor.labels.unknown", err), "")
	case d.Labels && len(missing) > 0:
		created, err := s.probe.CreateLabels(ctx, project, missing)
		if len(created) > 0 {
			d.ok(project, "doctor.labels.created", strings.Join(namesOf(created), ", "))
		}
		if err != nil {
			d.note(project, Failed, err.Error(), d.text("doctor.todo.labels.create"))
		}
	case slices.Contains(names, s.Config.BotLabel):
		d.note(project, Warning, d.text("doctor.labels.bot", s.Config.BotLabel), d.text("doctor.todo.labels"))
	case len(names) > 0:
		d.ok(project, "doctor.labels.later", strings.Join(names, ", "))
	default:
		d.ok(project, "doctor.labels")
	}
}

// howToApprove says what approves a plan on a forge.
func (d *doctor) howToApprove(s site) {
	form := "/approve"
	switch {
	case !d.Config.Commands.Enabled:
		d.ok(s.Host, "doctor.approval.quiet", s.me.Login)
		return
	case s.driver.QuickActions:
		form = "agent approve"
	}
	d.ok(s.Host, "doctor.approval", form, s.me.Login)
}
