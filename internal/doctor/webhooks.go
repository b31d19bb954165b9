package doctor

import (
	"crypto/tls"
	"net"
	"time"

	"agent/internal/webhook"
)

// checkWebhooks looks whether a loop could listen, or does, and shows how the hooks are made.
func (d *doctor) checkWebhooks() {
	w := d.Config.Webhooks
	if w.Listen == "" {
		return
	}
	if w.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(w.CertFile, w.KeyFile)
		if err != nil {
			d.note("webhooks", Failed, d.text("doctor.webhooks.certificate", err), d.text("doctor.todo.webhooks.certificate"))
			return
		}
		d.checkExpiry(pair, time.Now())
	}
	ctx, cancel := d.within(5 * time.Second)
	defer cancel()
	listener, err := net.Listen("tcp", w.Listen)
	switch {
	case err == nil:
		_ = listener.Close()
		d.ok("webhooks", "doctor.webhooks.free", w.Listen)
	case webhook.Answers(ctx, w.Listen):
		d.ok("webhooks", "doctor.webhooks.listens", w.Listen)
	default:
		d.note("webhooks", Failed, d.text("doctor.webhooks.taken", err), d.text("doctor.todo.webhooks.taken"))
		return
	}
	for _, at := range d.Sites {
		hook := at.Config.Driver.Hook
		if hook == nil {
			continue
		}
		projects := at.Config.Projects
		if len(projects) == 0 {
			projects = []string{at.Config.Driver.ProjectForm}
		}
		for _, project := range projects {
			d.note("webhooks", OK, d.text("doctor.webhooks.setup", project, hook.Setup(project)), "")
		}
	}
}

// renewedBefore is when certificates have been renewed as a rule before they expire.
const renewedBefore = 7 * 24 * time.Hour

// checkExpiry looks whether the forges accept a certificate, and for how long.
func (d *doctor) checkExpiry(pair tls.Certificate, now time.Time) {
	until := pair.Leaf.NotAfter
	switch {
	case now.After(until):
		d.note("webhooks", Failed, d.text("doctor.webhooks.expired", until.Local().Format("2006-01-02 15:04 MST")), d.text("doctor.todo.webhooks.renew"))
	case until.Sub(now) < renewedBefore:
		d.note("webhooks", Warning, d.text("doctor.webhooks.expires", until.Local().Format("2006-01-02 15:04 MST")), d.text("doctor.todo.webhooks.renew"))
	}
}
