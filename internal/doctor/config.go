package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"agent/internal/app"
	"agent/internal/config"
)

// checkConfig loads the configuration; nil means that nothing else can be checked.
func (d *doctor) checkConfig() *config.Config {
	cfg, warnings, err := config.Load(d.ConfigPath, d.Getenv, config.Override(func(c *config.Config) {
		if d.ContextsDir != "" {
			c.ContextsDir = d.ContextsDir
		}
	}))
	if cfg != nil {
		d.report.Lang = app.Language(cfg)
	}
	for _, w := range warnings {
		d.note("config", Warning, withoutCheck(w), "")
	}
	var problems *config.Error
	switch {
	case errors.As(err, &problems):
		for _, p := range problems.Problems {
			d.noteProblem(p)
		}
		return nil
	case err != nil:
		d.note("config", Failed, err.Error(), d.text("doctor.todo.config"))
		return nil
	}
	path, exists := config.Path(d.ConfigPath, d.Getenv)
	if !exists {
		d.note("config", Warning, d.text("doctor.nofile", path), d.text("doctor.todo.init"))
	} else {
		d.ok("config", "doctor.config", path)
	}
	if dir := d.Getenv(config.CredentialsVariable); dir != "" && filepath.Dir(cfg.EnvFile) == filepath.Clean(dir) {
		d.ok("config", "doctor.credentials", cfg.EnvFile)
	}
	return cfg
}

func (d *doctor) noteProblem(p config.Problem) {
	todo := "" // the text says what has to be corrected, and where
	switch p.Variable {
	case "":
	case config.CredentialsVariable:
		todo = d.text("doctor.todo.credentials", config.AsService)
	default:
		todo = d.text("doctor.todo.variable")
	}
	d.note("config", Failed, withoutCheck(p), todo)
}

// withoutCheck leaves out what the name of the check says already.
func withoutCheck(p config.Problem) string {
	if p.Where == "config" {
		return p.Text
	}
	return p.String()
}

// checkFileMode looks at who may read the configuration.
func (d *doctor) checkFileMode() {
	path, exists := config.Path(d.ConfigPath, d.Getenv)
	info, err := os.Stat(path)
	switch {
	case !exists || err != nil: // checkConfig has said so
	case info.Mode().Perm()&0o077 != 0:
		d.note("file mode", Warning, d.text("doctor.open", path, info.Mode().Perm()), "chmod 600 "+path)
	default:
		d.ok("file mode", "doctor.closed", path, info.Mode().Perm())
	}
}

// checkReplaced tells of a variable that wins over a value of the file: who
// changes the file wonders why nothing happens.
func (d *doctor) checkReplaced(check, path string) {
	if name := d.Config.Replaced(path); name != "" {
		d.note(check, Warning, d.text("doctor.replaced", name, strings.Replace(path, "[0]", "", 1)), d.text("doctor.todo.replaced"))
	}
}

// checkPauseSignal looks for the file that pauses everything.
func (d *doctor) checkPauseSignal() {
	if d.PauseSignal() {
		d.note("pause signal", Warning, d.text("doctor.signal", d.Config.PauseResume.SignalFile), d.text("doctor.todo.signal"))
	}
}
