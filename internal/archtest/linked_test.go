package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A program that looks methods up by name keeps every exported method of every type. Executed
// templates do it, ours as well as those of a library: they made the program a third larger.
func TestNoMethodIsLookedUpByName(t *testing.T) {
	for _, p := range load(t) {
		if slices.Contains(p.Imports, "text/template") || slices.Contains(p.Imports, "html/template") {
			t.Errorf("%s imports a package of templates", p.ImportPath)
		}
	}
	program := filepath.Join(t.TempDir(), "agent")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "agent/cmd/agent").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for name, linked := range map[string]bool{"reflect.Value.NumMethod": true, "reflect.Value.MethodByName": false} {
		if bytes.Contains(binary, []byte(name)) != linked {
			t.Errorf("%s is linked: %v. Who calls it: go build -o /dev/null -ldflags=-dumpdep ./cmd/agent 2>&1 | grep '<ReflectMethod>'", name, !linked)
		}
	}
}
