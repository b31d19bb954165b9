package config

import "net"

// Webhooks is about the hooks of forges, which `agent loop` listens for.
type Webhooks struct {
	// Address and port where `agent loop` takes the hooks of GitHub and GitLab, such as `127.0.0.1:8080` behind a proxy. Any path will do. A hook only says where to look. Empty: none.
	Listen string `yaml:"listen"`
	// The secret of those hooks, 16 characters or more. GitHub signs with it; on GitLab it is the signing token (`whsec_…`) or the secret token. Others get 401.
	Secret string `yaml:"secret" env:"WEBHOOK_SECRET"`
	// Certificate for HTTPS, PEM, with the chain. A renewed one is read by itself. Empty: plain HTTP, for a proxy on this machine or another.
	CertFile string `yaml:"cert_file" path:"abs"`
	// Its private key, PEM.
	KeyFile string `yaml:"key_file" path:"abs"`
	// Seconds between two lists of labelled items while hooks are listened for: polling finds what a lost hook did not tell. Contexts that wait are still looked at every `loop.interval_seconds`.
	IntervalSeconds int `yaml:"interval_seconds" default:"300" min:"1"`
}

// minWebhookSecret is the least length of a secret that nobody guesses.
const minWebhookSecret = 16

func (d *decoder) checkWebhooks(c *Config) {
	w := c.Webhooks
	if w.Listen == "" {
		return
	}
	if _, port, err := net.SplitHostPort(w.Listen); err != nil || port == "" {
		d.failAt("webhooks.listen", "must be an address and a port, such as 127.0.0.1:8080")
	}
	d.checkSecret(w.Secret, "webhooks.secret", "WEBHOOK_SECRET")
	if w.Secret != "" && len(w.Secret) < minWebhookSecret {
		d.failAt("webhooks.secret", "must have %d characters or more: take those of `openssl rand -hex 32`", minWebhookSecret)
	}
	if (w.CertFile == "") != (w.KeyFile == "") {
		d.failAt("webhooks", "cert_file and key_file belong together")
	}
}
