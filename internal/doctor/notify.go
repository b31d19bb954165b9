package doctor

import (
	"os/exec"
	"strings"

	"agent/internal/config"
	"agent/internal/notify"
)

// checkNotify looks whether the programs are there that tell people. Nothing is sent: addresses were
// checked with the configuration, and `agent notify test` tries them.
func (d *doctor) checkNotify() {
	for _, n := range d.Config.Notify {
		where := notify.Where(n)
		program := ""
		switch {
		case len(n.Command) > 0:
			program = n.Command[0]
		case len(n.Email.To) > 0:
			program = n.Email.Sendmail[0]
		}
		if program != "" {
			if _, err := exec.LookPath(program); err != nil {
				d.note("notify", Failed, d.text("doctor.notify.program", where, err), d.text("doctor.todo.notify"))
				continue
			}
		}
		if strings.HasPrefix(n.Address(), "http:") && !config.Loopback(n.Address()) {
			d.note("notify", Warning, d.text("doctor.notify.unencrypted", where), d.text("doctor.todo.notify.https"))
		}
		d.ok("notify", "doctor.notify", where, strings.Join(n.On, ", "))
	}
}
