// Package doctor checks everything that a run needs: the configuration, files,
// disk, contexts, git, forges, the model, tool servers and their sandbox. Each
// check gives findings, and a failed one says what to do. Nothing is changed
// except that the directory of the contexts is created if it is missing, and labels
// if that is asked for.
package doctor

import (
	"context"
	"sync"
	"time"

	"agent/internal/app"
	"agent/internal/i18n"
	"agent/internal/sanitize"
)

// Result is how a check ended.
type Result string

// The results.
const (
	OK      Result = "ok"
	Warning Result = "warning"
	Failed  Result = "failed"
)

// Finding is one line of the report, as `doctor --json` prints it.
type Finding struct {
	Check  string `json:"check"` // an id, the host of a forge, or a project
	Name   string `json:"-"`     // the same for people
	Result Result `json:"result"`
	Text   string `json:"text"`
	Todo   string `json:"todo,omitempty"` // what to do about it
}

// Options of a report.
type Options struct {
	ConfigPath  string // --config, "" if not given
	ContextsDir string // --contexts, "" if not given
	Version     string
	NoModelCall bool // do not ask the model anything
	Labels      bool // create the labels that projects lack
	Getenv      func(string) string
	Show        func(Finding) // called for each finding as soon as it is there: some checks take time
}

// Report is what was found.
type Report struct {
	Findings []Finding
	Lang     i18n.Lang // of the texts
}

// Count is the number of findings with a result.
func (r *Report) Count(result Result) (n int) {
	for _, f := range r.Findings {
		if f.Result == result {
			n++
		}
	}
	return n
}

// doctor is one examination.
type doctor struct {
	Options
	*app.App // nil until the configuration was loaded
	ctx      context.Context

	mu     sync.Mutex // contexts warn from wherever they are
	report Report
	public []string // projects that everybody can see
}

// Run checks everything. Without a valid configuration it checks nothing else.
func Run(ctx context.Context, o Options) *Report {
	d := &doctor{Options: o, ctx: ctx, report: Report{Findings: []Finding{}, Lang: i18n.FromEnv(o.Getenv)}}
	if cfg := d.checkConfig(); cfg != nil {
		d.App = app.NewReadOnly(cfg, nil, app.Options{Version: o.Version, ConfigPath: o.ConfigPath})
		defer d.App.Close()
		d.checkAll()
	}
	return &d.report
}

func (d *doctor) checkAll() {
	d.checkFileMode()
	d.checkStore()
	d.checkPauseSignal()
	d.checkDisk()
	d.checkGit()
	d.checkWorkspaces()
	if err := d.Connect(); err != nil {
		d.note("config", Failed, d.text("doctor.adapters", err), d.text("doctor.todo.config"))
		return
	}
	for _, at := range d.Sites {
		if at.Config.Driver.Local {
			d.checkDirectory(at)
			continue
		}
		d.checkForge(at)
	}
	d.checkModel()
	d.checkServers()
	d.checkSandbox()
	d.checkContainer()
	d.checkInjection()
	d.checkTelemetry()
	d.checkWebhooks()
	d.checkNotify()
	d.checkCluster()
}

func (d *doctor) text(id i18n.ID, args ...any) string {
	return i18n.Text(d.report.Lang, id, args...)
}

// note adds a finding and shows it.
func (d *doctor) note(check string, result Result, text, todo string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := Finding{check, d.safe(i18n.Check(d.report.Lang, check)), result, d.safe(text), d.safe(todo)}
	d.report.Findings = append(d.report.Findings, f)
	d.Show(f)
}

func (d *doctor) ok(check string, id i18n.ID, args ...any) {
	d.note(check, OK, d.text(id, args...), "")
}

// safe takes out secrets and everything that acts on a terminal.
func (d *doctor) safe(s string) string {
	if d.App != nil {
		s, _ = d.Redact.String(s)
	}
	return sanitize.Line(s, 500)
}

// within bounds one check in time.
func (d *doctor) within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(d.ctx, limit)
}
