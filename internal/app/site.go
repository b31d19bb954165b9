package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"agent/contexts"
	"agent/forge"
	"agent/handlers/engine"
	"agent/internal/config"
)

// Site is one configured forge.
type Site struct {
	Config config.Forge
	Client forge.Client
	Host   string                                // of its task keys
	Token  func(context.Context) (string, error) // for git
}

func (a *App) newSite(f config.Forge) (Site, error) {
	o := f.Options(a.Config.AllowHTTP)
	o.Operator, o.ReadOnly = engine.Operator(), a.readOnly
	if !a.readOnly {
		o.AnswersDir, o.Secret = filepath.Join(a.Config.ContextsDir, contexts.AnswersDir), a.holdsSecret
	}
	conn, err := f.Driver.New(o)
	if err != nil {
		return Site{}, err
	}
	return Site{f, conn, conn.Host(), conn.Token}, nil
}

func (a *App) holdsSecret(text string) bool {
	_, found := a.Redact.String(text)
	return found
}

// Site finds the forge with a host.
func (a *App) Site(host string) (Site, bool) {
	for _, at := range a.Sites {
		if at.Host == host {
			return at, true
		}
	}
	return Site{}, false
}

// Takes reports whether tasks of a project are worked on.
func (at Site) Takes(key forge.TaskKey) bool {
	if len(at.Config.Projects) == 0 {
		return strings.EqualFold(key.Owner(), at.Config.Owner)
	}
	return slices.ContainsFunc(at.Config.Projects, func(name string) bool { return strings.EqualFold(name, key.Project) })
}

// Hosts are the hosts of all configured forges.
func Hosts(cfg *config.Config) []string {
	var hosts []string
	for _, f := range cfg.Forges() {
		hosts = append(hosts, f.Host())
	}
	return hosts
}
