package try

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"agent/internal/config"
	"agent/internal/registry"
	"agent/llm"
)

// Where a model was found.
const (
	Configured  = "config" // the configuration file, or LLM_PROVIDER
	Environment = "env"    // a key or an address in the usual variables
	Local       = "local"  // a server that answered on this machine
)

// Model is the one that is used. Who pays for it wants to know.
type Model struct {
	From     string
	Variable string // that led to it, of Environment
	driver   llm.Driver
	url      string // "": as the configuration has it
	name     string // "": as the configuration has it
}

// ErrNoModel is the error if there is no configuration and nothing was found.
var ErrNoModel = errors.New("no model was found")

// probeTime bounds the question whether a server of this machine is there.
const probeTime = 3 * time.Second

// FindModel looks for a model: in the configuration, in the environment, on this
// machine, in this order.
func FindModel(ctx context.Context, configured bool, getenv func(string) string) (Model, error) {
	if configured || getenv("LLM_PROVIDER") != "" {
		return Model{From: Configured}, nil
	}
	for _, d := range registry.Providers {
		for _, variable := range []string{d.KeyEnv(), d.Env(d.URLKey), d.Env("model")} {
			if variable == "" || getenv(variable) == "" || d.Key && variable == d.Env("model") {
				continue // a model without a key is no account
			}
			m := Model{From: Environment, Variable: variable, driver: d}
			if d.Key || getenv(d.Env("model")) != "" {
				return m, nil
			}
			return m.listed(ctx, cmp.Or(getenv(d.Env(d.URLKey)), d.URL))
		}
	}
	for _, d := range registry.Providers {
		if d.Key {
			continue
		}
		at := d.URL
		if d.HostEnv != "" {
			at = hostURL(getenv(d.HostEnv), d.URL)
		}
		if m, err := (Model{From: Local, driver: d, url: at}).listed(ctx, at); err == nil {
			return m, nil
		} else if ctx.Err() != nil {
			return m, ctx.Err()
		}
	}
	return Model{}, ErrNoModel
}

// listed takes the default model of a kind if the server has it, else the first that it names.
func (m Model) listed(ctx context.Context, at string) (Model, error) {
	p, err := m.driver.New(llm.Options{URL: at, Timeout: probeTime})
	if err != nil {
		return m, err
	}
	checker, can := p.(llm.Checker)
	if !can {
		return m, ErrNoModel
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	info, err := checker.Check(ctx)
	for _, name := range info.Models {
		if base, _, _ := strings.Cut(name, ":"); base == m.driver.Model && m.driver.Model != "" {
			m.name = name
			return m, nil
		}
	}
	switch {
	case len(info.Models) > 0: // which of them is wanted nobody said: that was the error
		m.name = info.Models[0]
		return m, nil
	case err != nil:
		return m, err
	}
	return m, ErrNoModel
}

// hostURL is where a server listens that was told to by its own variable.
func hostURL(host, preset string) string {
	if host == "" {
		return preset
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return preset
	}
	usual, _ := url.Parse(preset) // it is ours
	name, port := cmp.Or(u.Hostname(), usual.Hostname()), cmp.Or(u.Port(), usual.Port())
	if ip := net.ParseIP(name); ip != nil && ip.IsUnspecified() { // it listens everywhere
		name = usual.Hostname()
	}
	u.Host = net.JoinHostPort(name, port)
	return strings.TrimSuffix(u.String(), "/")
}

// apply sets what was found in the configuration.
func (m Model) apply(c *config.Config) {
	if m.driver.Name == "" {
		return
	}
	c.LLM.Provider = m.driver.Name
	section := c.LLM.Sections[m.driver.Name]
	section.URL = cmp.Or(m.url, section.URL)
	section.Model = cmp.Or(m.name, section.Model)
}

// Paid reports whether somebody is paid for the model in use.
func Paid(c *config.Config) bool {
	p := c.LLM.Active()
	return p.Driver.Key && !config.Loopback(p.URL)
}
