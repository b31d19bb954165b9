package container

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tailscale/hujson"

	"agent/internal/lazyregexp"
)

// Files are those in which a repository may name its image, in this order.
var Files = []string{".agent/container", ".devcontainer/devcontainer.json", ".devcontainer.json"}

// MostBytes bounds such a file.
const MostBytes = 64 << 10

// Rules say which image the commands of a project run in.
type Rules struct {
	Projects map[string]string // by project; wins over all
	Allow    []string          // patterns of images that a repository may name; doublestar
	Default  string            // "": the machine's own programs
}

// Choice is an image, and why it is not the one that the repository asks for.
type Choice struct {
	Name string // "" for none
	Note string // for people and for the model; "": nothing to say
}

// Choose picks the image of a project. files are the contents of [Files] in its repository, which
// anybody may have written: it gets no other image than one that the operator allows.
func (r Rules) Choose(project string, files map[string]string) Choice {
	if name, ok := r.Projects[project]; ok {
		return Choice{Name: name}
	}
	for _, file := range Files {
		text, ok := files[file]
		if !ok {
			continue
		}
		name, lack := named(file, text)
		switch {
		case lack != "":
			return Choice{r.Default, file + " " + lack}
		case !IsName(name):
			return Choice{r.Default, file + " does not name an image"}
		case !r.allows(name):
			return Choice{r.Default, fmt.Sprintf("%s asks for the image %s, which sandbox.container.allow does not name", file, name)}
		}
		return Choice{Name: name}
	}
	return Choice{Name: r.Default}
}

func (r Rules) allows(name string) bool {
	return slices.ContainsFunc(r.Allow, func(pattern string) bool {
		return doublestar.MatchUnvalidated(pattern, name)
	})
}

// named is the image that a file names, or what the file has instead of one.
func named(file, text string) (name, lack string) {
	if !strings.HasSuffix(file, ".json") {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				return line, ""
			}
		}
		return "", "is empty"
	}
	standard, err := hujson.Standardize([]byte(text)) // it may have comments
	var dev struct{ Image string }
	if err != nil || json.Unmarshal(standard, &dev) != nil {
		return "", "is not JSON"
	}
	if dev.Image == "" {
		return "", "names no image; images that would have to be built are not"
	}
	return dev.Image, ""
}

// reference is the form of an image's name (https://github.com/distribution/reference).
var reference = lazyregexp.New(`^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?::[0-9]+)?(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`)

// transports are words that make podman look elsewhere than in a registry.
var transports = []string{"containers-storage", "dir", "docker", "docker-archive", "docker-daemon", "oci", "oci-archive", "ostree", "sif", "tarball"}

// IsName reports whether a text names an image of a registry, or of the machine's store of images.
func IsName(text string) bool {
	first, _, _ := strings.Cut(text, ":")
	return len(text) <= 512 && reference.MatchString(text) && !slices.Contains(transports, first)
}
