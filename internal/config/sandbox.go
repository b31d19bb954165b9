package config

import (
	"path/filepath"

	"github.com/bmatcuk/doublestar/v4"

	"agent/internal/container"
)

// Sandbox is about where the commands of the built-in workspace server run.
type Sandbox struct {
	Container Container `yaml:"container"`
}

// Container lets commands see the files of a container image in place of the machine's.
type Container struct {
	// Image in which the commands of the built-in workspace server run, such as `docker.io/library/rust:1.82`, or of a repository that names none. Empty: they run with the machine's own programs. `podman` or `docker` brings the image and is not needed to run it. For Linux.
	Image string `yaml:"image"`
	// Images of single projects, such as `{my-org/app: ghcr.io/my-org/build:2}`. They win over `image` and over what the repository names.
	Projects map[string]string `yaml:"projects"`
	// Patterns of images that a repository may name itself, in `.agent/container` or as `image` of its `devcontainer.json`, such as `[mcr.microsoft.com/devcontainers/*]`. `*` ends at a slash, `**` does not. The file is read from the commit that the work begins on.
	Allow []string `yaml:"allow"`
	// Program that brings images. `auto`: the first that is installed.
	Tool string `yaml:"tool" default:"auto" oneof:"auto|podman|docker"`
	// Whether an image is fetched that is not on this machine. `never`: fetch it before.
	Pull string `yaml:"pull" default:"missing" oneof:"missing|never"`
	// Directory of unpacked images. `agent gc` removes those that nobody used for a month. Empty: `images` beside `workspaces_dir`.
	Dir string `yaml:"dir" path:"abs"`
}

// Used reports whether commands may run in an image.
func (c Container) Used() bool { return c.Image != "" || len(c.Projects) > 0 || len(c.Allow) > 0 }

// Rules say which image a project's commands run in.
func (c Container) Rules() container.Rules {
	return container.Rules{Projects: c.Projects, Allow: c.Allow, Default: c.Image}
}

func (d *decoder) checkContainer(c *Config) {
	box := &c.Sandbox.Container
	if box.Image != "" && !container.IsName(box.Image) {
		d.failAt("sandbox.container.image", "must name an image, such as docker.io/library/rust:1.82")
	}
	for project, image := range box.Projects {
		if image != "" && !container.IsName(image) {
			d.failAt("sandbox.container.projects."+project, "must name an image, such as docker.io/library/rust:1.82")
		}
	}
	for _, pattern := range box.Allow {
		if !doublestar.ValidatePattern(pattern) {
			d.failAt("sandbox.container.allow", "%q is not a pattern", pattern)
		}
	}
	if box.Dir == "" {
		box.Dir = filepath.Join(filepath.Dir(c.WorkspacesDir), "images")
	}
}
