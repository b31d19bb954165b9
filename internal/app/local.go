package app

import (
	"context"
	"log/slog"

	"agent/internal/caches"
	"agent/internal/config"
	"agent/internal/container"
	"agent/internal/workspace"
	"agent/mcp"
	"agent/projections"
)

// openLocal gives the tool servers of a context what they have beside its working copy. Of the
// state nothing is read later, when it changes.
func (a *App) openLocal(s *projections.State) func(context.Context) (mcp.Local, error) {
	if a.readOnly || s.Created == nil || s.Workspace == nil || s.Workspace.Dir == "" {
		return func(context.Context) (mcp.Local, error) { return mcp.Local{}, nil }
	}
	openCaches, openImage := a.openCaches(s), a.openImage(s)
	return func(ctx context.Context) (local mcp.Local, err error) {
		if local.Image, local.Note, err = openImage(ctx); err != nil {
			return local, err
		}
		if local.Caches = openCaches(ctx); local.Caches != "" {
			local.Env = caches.Variables(local.Caches)
		}
		return local, nil
	}
}

// Images are the container images that commands run in.
func Images(cfg *config.Config) *container.Images {
	c := cfg.Sandbox.Container
	tool := c.Tool
	if tool == "auto" {
		tool = ""
	}
	return &container.Images{Dir: c.Dir, Tool: tool, Pull: c.Pull != "never", Log: slog.New(slog.DiscardHandler)}
}

// openImage finds the image that a context's commands run in. An image that cannot be had is an
// error: commands must not run with the machine's programs instead.
func (a *App) openImage(s *projections.State) func(context.Context) (mcp.Image, string, error) {
	rules, project := a.Config.Sandbox.Container.Rules(), s.Key.Project
	dir, commit := s.Workspace.Dir, s.Workspace.Commit
	return func(ctx context.Context) (image mcp.Image, note string, err error) {
		files := map[string]string{}
		if len(rules.Allow) > 0 && commit != "" {
			// At the commit that the work began on: the working copy may have been changed since.
			if files, err = workspace.FilesAt(ctx, dir, commit, container.Files, container.MostBytes); err != nil {
				return image, "", err
			}
		}
		choice := rules.Choose(project, files)
		if choice.Note != "" {
			a.Log.Warn("container image", "project", project, "reason", choice.Note)
		}
		if choice.Name == "" {
			return image, choice.Note, nil
		}
		open, err := a.images.Open(ctx, choice.Name)
		if err != nil {
			return image, "", err
		}
		return mcp.Image{Name: open.Name, ID: open.ID, Dir: open.Root, Env: open.Env}, choice.Note, nil
	}
}
