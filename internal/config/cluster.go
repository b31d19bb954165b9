package config

import (
	"net/url"

	"agent/internal/lazyregexp"
)

// Cluster is about several machines that work on one queue with one history. Without
// `cluster.nats.urls` this machine works alone.
type Cluster struct {
	// Name of the cluster. Several may share one engine.
	Name string `yaml:"name" default:"agent"`
	// What this machine is called in `agent status`. Empty: its host name.
	Worker string `yaml:"worker"`
	// Copies of everything that the engine keeps, each on another of its nodes. 3 survive the loss of one.
	Replicas int `yaml:"replicas" default:"3" min:"1" max:"5"`
	// Seconds without a sign of life after which other machines take over what a worker holds.
	LeaseSeconds int `yaml:"lease_seconds" default:"10" min:"3" max:"600"`
	// Tasks of one repository that are worked on at the same time, by all machines together. 0: no limit.
	PerRepository int `yaml:"per_repository"`
	// Labels whose tasks come before all others.
	UrgentLabels Strings `yaml:"urgent_labels"`
	NATS         NATS    `yaml:"nats"`
}

// NATS is the engine: servers of NATS with JetStream.
type NATS struct {
	// Addresses of its servers, such as `nats://10.0.0.1:4222` or, with TLS, `tls://nats.example.com:4222`.
	URLs Strings `yaml:"urls"`
	// File with credentials, as `nsc` makes it.
	CredsFile string `yaml:"creds_file" path:"abs"`
	// File with the seed of an NKey.
	NKeyFile string `yaml:"nkey_file" path:"abs"`
	// Certificates that the servers' are signed with, PEM. Empty: those of the system.
	CAFile string `yaml:"ca_file" path:"abs"`
	// Certificate of this machine, PEM, where the servers ask for one.
	CertFile string `yaml:"cert_file" path:"abs"`
	// Its private key, PEM.
	KeyFile string `yaml:"key_file" path:"abs"`
	// Addresses of the servers' HTTP monitoring, such as `http://10.0.0.1:8222`. `agent doctor` asks them whether each server syncs before it acknowledges.
	MonitorURLs Strings `yaml:"monitor_urls"`
}

// Shared tells whether this machine is one of a cluster.
func (c *Cluster) Shared() bool { return len(c.NATS.URLs) > 0 }

func (d *decoder) checkCluster(c *Config) {
	if !c.Cluster.Shared() {
		return
	}
	for _, raw := range c.Cluster.NATS.URLs {
		u, err := url.Parse(raw)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls":
			d.failAt("cluster.nats.urls", "each must be like nats://host:4222 or tls://host:4222")
		case u.User != nil:
			d.failAt("cluster.nats.urls", "must hold no password: name a creds_file or an nkey_file")
		case u.Scheme == "nats" && c.Cluster.NATS.CAFile == "" && !c.AllowHTTP && !Loopback(raw):
			d.failAt("cluster.nats.urls", "would send tasks over the network as plain text: use tls://, name a ca_file, or set allow_http")
		}
	}
	for _, raw := range c.Cluster.NATS.MonitorURLs {
		if u, err := url.Parse(raw); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			d.failAt("cluster.nats.monitor_urls", "each must be like http://host:8222, without a password")
		}
	}
	if !clusterName.MatchString(c.Cluster.Name) {
		d.failAt("cluster.name", "must be letters, digits, - and _")
	}
	if (c.Cluster.NATS.CertFile == "") != (c.Cluster.NATS.KeyFile == "") {
		d.failAt("cluster.nats", "cert_file and key_file belong together")
	}
	for _, f := range c.Forges() {
		if f.Workspace != "" || f.Driver.Local {
			d.failAt("cluster.nats.urls", "no forge may be a directory or have a workspace of its own: another machine has not its files")
		}
	}
}

var clusterName = lazyregexp.New(`^[A-Za-z0-9_-]{1,32}$`)
