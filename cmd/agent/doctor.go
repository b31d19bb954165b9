package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"agent/contexts"
	"agent/internal/app"
	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/sanitize"
)

// The results of a check.
const (
	good    = "ok"
	warning = "warning"
	bad     = "failed"
)

var marks = map[string]string{good: "✓", warning: "!", bad: "✗"}

// finding is one line of the doctor, as `doctor --json` prints it.
type finding struct {
	Check  string `json:"check"`
	Result string `json:"result"` // ok | warning | failed
	Text   string `json:"text"`
	Todo   string `json:"todo,omitempty"` // what to do about it
}

// doctor goes through everything that a run needs.
type doctor struct {
	*cli
	*app.App
	ctx    context.Context
	lang   i18n.Lang
	asJSON bool
	noCall bool // make no model call

	mu     sync.Mutex
	found  []finding
	public []string // repositories that everybody can see
}

func (a *cli) doctorCommand() *cobra.Command {
	asJSON, noCall := false, false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that everything is there that a run needs", Args: cobra.NoArgs,
		Long: `doctor checks the configuration, files, disk, contexts, forges, model, tool servers, git and
sandbox, and says of each what to do if it is not right. It exits with 0 if nothing is
wrong (warnings, marked !, do not count), else with 78. It changes nothing. Whether the
model can call tools is found out by one very short call, unless --no-model-call is given.`,
		Example: `  agent doctor
  agent doctor --no-model-call --json | jq -r '.[] | select(.result!="ok").todo'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{cli: a, ctx: cmd.Context(), lang: i18n.En, asJSON: asJSON, noCall: noCall, found: []finding{}}
			return d.examine()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	cmd.Flags().BoolVar(&noCall, "no-model-call", false, "do not ask the model anything")
	return cmd
}

func (d *doctor) examine() error {
	if cfg := d.checkConfig(); cfg != nil {
		d.App = app.NewReadOnly(cfg, nil, d.options())
		defer d.App.Close()
		d.checkAll()
	}
	code := 0
	for _, f := range d.found {
		if f.Result == bad {
			code = contexts.ExitConfig
		}
	}
	if d.asJSON {
		return errors.Join(d.printJSON(d.found), quietly(code))
	}
	d.sum(code)
	return quietly(code)
}

func (d *doctor) sum(code int) {
	counts := map[string]int{}
	for _, f := range d.found {
		counts[f.Result]++
	}
	id := i18n.ID("doctor.fine")
	if code != 0 {
		id = "doctor.unwell"
	}
	fmt.Fprintln(d.out, "\n"+i18n.Text(d.lang, id, counts[bad], counts[warning]))
}

func (d *doctor) checkAll() {
	d.checkFile()
	d.checkStore()
	d.checkSignal()
	d.checkDisk()
	d.checkGit()
	d.checkWorkspaces()
	if err := d.Connect(); err != nil {
		d.note("adapters", bad, d.text("doctor.adapters", err), d.text("doctor.todo.config"))
		return
	}
	for _, at := range d.Sites {
		d.checkForge(at)
	}
	d.checkModel()
	d.checkServers()
	d.checkSandbox()
	d.checkTrifecta()
}

func (d *doctor) text(id i18n.ID, args ...any) string { return i18n.Text(d.lang, id, args...) }

// note adds a finding and shows it at once: some checks take their time.
func (d *doctor) note(check, result, text, todo string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := finding{check, result, d.safe(text), d.safe(todo)}
	d.found = append(d.found, f)
	if d.asJSON {
		return
	}
	fmt.Fprintf(d.out, "%s %s: %s\n", marks[result], check, f.Text)
	if f.Todo != "" {
		fmt.Fprintln(d.out, "    → "+f.Todo)
	}
}

// safe takes out secrets and everything that acts on a terminal.
func (d *doctor) safe(s string) string {
	if d.App != nil {
		s, _ = d.Redact.String(s)
	}
	return sanitize.Line(s, 500)
}

func (d *doctor) ok(check string, id i18n.ID, args ...any) {
	d.note(check, good, d.text(id, args...), "")
}

// checkConfig loads the configuration; nil means that nothing else can be checked.
func (d *doctor) checkConfig() *config.Config {
	cfg, warnings, err := config.Load(d.cli.config, os.Getenv, config.Override(func(c *config.Config) {
		if d.cli.contexts != "" {
			c.ContextsDir = d.cli.contexts
		}
	}))
	if cfg != nil {
		d.lang = tongue(cfg)
	}
	for _, w := range warnings {
		d.note("config", warning, worded(w), "")
	}
	var problems *config.Error
	switch {
	case errors.As(err, &problems):
		for _, p := range problems.Problems {
			d.noteProblem(p)
		}
		return nil
	case err != nil:
		d.note("config", bad, err.Error(), d.text("doctor.todo.config"))
		return nil
	}
	path, exists := config.Path(d.cli.config, os.Getenv)
	if !exists {
		d.note("config", warning, d.text("doctor.nofile", path), d.text("doctor.todo.init"))
	} else {
		d.ok("config", "doctor.config", path)
	}
	return cfg
}

func (d *doctor) noteProblem(p config.Problem) {
	todo := d.text("doctor.todo.config")
	if p.Variable != "" {
		todo = d.text("doctor.todo.variable")
	}
	d.note("config", bad, worded(p), todo)
}

// worded leaves out what the name of the check says already.
func worded(p config.Problem) string {
	if p.Where == "config" {
		return p.Text
	}
	return p.String()
}

// checkFile looks at who may read the configuration.
func (d *doctor) checkFile() {
	path, exists := config.Path(d.cli.config, os.Getenv)
	info, err := os.Stat(path)
	switch {
	case !exists || err != nil: // said already
	case info.Mode().Perm()&0o077 != 0:
		d.note("modes", warning, d.text("doctor.open", path, info.Mode().Perm()), "chmod 600 "+path)
	default:
		d.ok("modes", "doctor.closed", path, info.Mode().Perm())
	}
}

// checkStore opens the contexts as a run does, and takes a lock twice.
func (d *doctor) checkStore() {
	dir := d.App.Config.ContextsDir
	store, err := app.OpenStore(d.App.Config, func(err error) { d.note("contexts", warning, err.Error(), "") })
	if err != nil {
		d.note("contexts", bad, err.Error(), d.text("doctor.todo.contexts", dir))
		return
	}
	d.App.Store = store
	lock, err := store.LockKey("doctor")
	if errors.Is(err, contexts.ErrBusy) { // another doctor: so locks work
		d.ok("contexts", "doctor.contexts", dir)
		return
	}
	if err != nil {
		d.note("contexts", bad, err.Error(), d.text("doctor.todo.contexts", dir))
		return
	}
	defer lock.Close()
	if _, err := store.LockKey("doctor"); !errors.Is(err, contexts.ErrBusy) {
		d.note("contexts", bad, d.text("doctor.nolock", dir), d.text("doctor.todo.local"))
		return
	}
	d.ok("contexts", "doctor.contexts", dir)
}

// within bounds one check in time.
func (d *doctor) within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(d.ctx, limit)
}
