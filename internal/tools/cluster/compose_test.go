package cluster

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The compose file names files that are there or that its comment makes, and shows nothing
// to the world.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile(deployed + "compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Services map[string]struct {
			Image       string
			Ports       []string
			Volumes     []string
			Secrets     []string
			Environment map[string]string
			Extends     struct{ File, Service string }
		}
		Volumes map[string]any
		Secrets map[string]struct{ File string }
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	made := []string{"./tls/ca.pem", "./worker.nk", "../env"}
	for i := range 3 {
		made = append(made, fmt.Sprintf("./tls/nats-%d.pem", i+1), fmt.Sprintf("./tls/nats-%d.key", i+1))
		node, worker := c.Services[fmt.Sprint("nats-", i+1)], c.Services[fmt.Sprint("worker-", i+1)]
		if node.Environment["NODE"] != fmt.Sprint("nats-", i+1) || !strings.HasPrefix(node.Environment["MONITOR"], "127.0.0.1:") || worker.Extends.Service != "agent" {
			t.Errorf("%+v, %+v", node, worker)
		}
	}
	exists := func(file string) {
		if _, err := os.Stat(deployed + file); err != nil && !slices.Contains(made, file) {
			t.Errorf("%s: nobody makes it", file)
		}
	}
	for name, s := range c.Services {
		if len(s.Ports) > 0 {
			t.Errorf("%s has ports %v", name, s.Ports)
		}
		if s.Extends.File != "" {
			exists(s.Extends.File)
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if strings.HasPrefix(source, ".") {
				exists(source)
			} else if _, named := c.Volumes[source]; !named {
				t.Errorf("%s: there is no volume %s", name, source)
			}
		}
		for _, secret := range s.Secrets {
			exists(c.Secrets[secret].File)
		}
	}
	if len(c.Services) != 6 {
		t.Errorf("%d services", len(c.Services))
	}
}
