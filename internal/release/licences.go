package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// licencesFile holds what the licences of linked modules want to be passed on with the program.
const licencesFile = "LICENSES"

// writeLicences collects the licences of the modules that are linked into a program, and of Go's library.
func (b *build) writeLicences(binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	root, err := output(b.dir, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	var all bytes.Buffer
	if err := addLicences(&all, "Go "+info.GoVersion, root); err != nil {
		return err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		text, err := output(b.dir, nil, "go", "mod", "download", "-json", m.Path+"@"+m.Version)
		if err != nil {
			return err
		}
		var module struct{ Dir string }
		if err := json.Unmarshal([]byte(text), &module); err != nil {
			return err
		}
		if err := addLicences(&all, m.Path+" "+m.Version, module.Dir); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(b.work, licencesFile), all.Bytes(), 0o644)
}

func addLicences(all *bytes.Buffer, name, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, f := range files {
		upper := strings.ToUpper(f.Name())
		if f.IsDir() || !strings.HasPrefix(upper, "LICENSE") && !strings.HasPrefix(upper, "LICENCE") && !strings.HasPrefix(upper, "COPYING") && !strings.HasPrefix(upper, "NOTICE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(all, "==== %s: %s\n\n%s\n\n", name, f.Name(), bytes.TrimSpace(text))
	}
	if !found {
		return fmt.Errorf("%s has no licence that could be passed on", name)
	}
	return nil
}
