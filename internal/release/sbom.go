package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// sbom is the part of CycloneDX 1.5 that says what is linked into a program.
type sbom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"` // of the commit
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// writeSBOM lists the modules of all binaries together, as the binaries name them.
func (b *build) writeSBOM(binaries []string) error {
	all := map[string]component{}
	for _, binary := range binaries {
		info, err := buildinfo.ReadFile(binary)
		if err != nil {
			return err
		}
		all["std"] = library("std", info.GoVersion, "")
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			all[m.Path] = library(m.Path, m.Version, m.Sum)
		}
	}
	list := slices.SortedFunc(maps.Values(all), func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	bom := sbom{Format: "CycloneDX", Spec: "1.5", Version: 1, Components: list,
		Metadata: metadata{b.time.Format("2006-01-02T15:04:05Z"), component{Type: "application", Ref: "agent", Name: "agent", Version: b.version}}}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.out, "sbom.cdx.json"), text.Bytes(), 0o644)
}

// library is one module; sum is its line of go.sum, empty for the standard library.
func library(path, version, sum string) component {
	purl := "pkg:golang/" + path + "@" + version
	c := component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
