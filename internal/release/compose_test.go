package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestCompose: compose reads the file where it is installed, and what is confined stays so.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile("../../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			ReadOnly bool     `yaml:"read_only"`
			CapDrop  []string `yaml:"cap_drop"`
			Security []string `yaml:"security_opt"`
			User     string
			Secrets  []string
			Volumes  []string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	agent := file.Services["agent"]
	if !agent.ReadOnly || !slices.Equal(agent.CapDrop, []string{"ALL"}) || agent.User != "65532:65532" || !slices.Equal(agent.Secrets, []string{"env"}) ||
		!slices.Contains(agent.Security, "no-new-privileges:true") || !slices.Contains(agent.Security, "seccomp=./seccomp.json") {
		t.Errorf("the service is %+v", agent)
	}
	profile, err := os.ReadFile("../../deploy/seccomp.json")
	if err != nil || !json.Valid(profile) {
		t.Errorf("seccomp.json: %v", err)
	}
	if _, err := exec.LookPath("docker-compose"); err != nil {
		t.Skip("docker-compose is not installed")
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"compose.yaml": text, "seccomp.json": profile, "env": nil, "config.yaml": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "docker-compose", "--file", "compose.yaml", "config", "--quiet")
}
