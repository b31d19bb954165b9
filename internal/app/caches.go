package app

import (
	"context"

	"agent/handlers/policy"
	"agent/internal/caches"
	"agent/internal/config"
	"agent/projections"
)

// Caches are those of tools, which working copies of one repository share.
func Caches(cfg *config.Config) caches.Caches {
	return caches.Caches{Root: cfg.CachesDir, Most: int64(cfg.MaxCacheMB) << 20}
}

func (a *App) repositoryOf(s *projections.State) caches.Repository {
	if a.CachesOf != "" {
		return caches.Repository{Host: "local", Project: a.CachesOf}
	}
	return caches.Repository{Host: s.Key.Host, Project: s.Key.Project, ID: s.Home}
}

// openCaches gives the tool servers of a context the caches of its repository. They save time:
// without them the work goes on. Of the state nothing is read later, when it changes.
func (a *App) openCaches(s *projections.State) func(context.Context) (dir string) {
	if a.Config.MaxCacheMB == 0 {
		return func(context.Context) string { return "" }
	}
	repository, uuid := a.repositoryOf(s), s.Created.UUID
	dir, fresh := s.Workspace.Dir, untouched(s)
	return func(ctx context.Context) string {
		var sums caches.Sums
		if fresh {
			sums = caches.ReadSums(dir)
		}
		open, err := Caches(a.Config).Open(ctx, repository, uuid, sums)
		if err != nil {
			a.Log.Warn("tools work without caches", "error", err)
			return ""
		}
		return open
	}
}

// untouched reports whether the working copy holds what the repository does, and nobody's work.
func untouched(s *projections.State) bool {
	return !s.Workspace.InPlace && s.Workspace.Continued.From == "" && s.Usage.ToolCalls == 0 && s.Task != nil && !s.Task.Fork
}

// HasCaches reports whether there is something in the caches of a context.
func (a *App) HasCaches(ctx context.Context, s *projections.State) bool {
	return Caches(a.Config).Has(ctx, a.repositoryOf(s), s.Created.UUID)
}

// TrimCaches keeps the caches of a context that waits within the bound.
func (a *App) TrimCaches(ctx context.Context, s *projections.State) {
	if err := Caches(a.Config).Trim(ctx, a.repositoryOf(s), s.Created.UUID); err != nil {
		a.Log.Warn("caches could not be removed", "uuid", s.Created.UUID, "error", err)
	}
}

// CloseCaches ends the use of a context's caches, when no tool server of it runs any more.
func (a *App) CloseCaches(ctx context.Context, s *projections.State, keep policy.Caches) {
	amount := map[policy.Caches]caches.Keep{policy.KeepDownloads: caches.Downloads, policy.KeepAll: caches.All}[keep]
	kept, err := Caches(a.Config).Close(ctx, a.repositoryOf(s), s.Created.UUID, amount)
	if err != nil {
		a.Log.Warn("caches could not be kept", "uuid", s.Created.UUID, "error", err)
	} else if keep != policy.KeepNothing {
		a.Log.Info("caches", "uuid", s.Created.UUID, "files", kept.Files, "new", kept.New, "bytes", kept.Bytes)
	}
}
