package byproducts

import (
	"path"
	"slices"
	"testing"
)

// TestFind: a well-known name is not enough; what is part of the repository or was
// named is the work.
func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		fresh, kept []string
		want        []string
	}{
		"tests of Python":               {[]string{"a/__pycache__/x.pyc", "a/__pycache__/y.pyc", "a/y.py", "z.pyc"}, []string{"a/x.py"}, []string{"a/__pycache__/", "z.pyc"}},
		"the outermost one":             {[]string{"node_modules/a/build/x.js", "node_modules/a/x.pyc"}, nil, []string{"node_modules/"}},
		"build is part of the project":  {[]string{"build/new.sh", "build/__pycache__/x.pyc", "build/x.o"}, []string{"build/make.sh"}, []string{"build/__pycache__/", "build/x.o"}},
		"dist was edited":               {[]string{"dist/a.js", "dist/b.js"}, []string{"dist/a.js"}, nil},
		"vendor was named":              {[]string{"vendor/x/y.go"}, []string{"vendor"}, nil},
		"a file named like one":         {[]string{"build", "dist", "pkg/target"}, nil, nil},
		"a directory named like a file": {[]string{"x.pyc/a", ".DS_Store/a"}, nil, nil},
		"no by-products":                {[]string{"src/builder/x.go", "distribution/a", "main.go", "a.class.go", "core.py"}, nil, nil},
		"a repository of its own":       {[]string{".venv/src/x/", "other/"}, nil, []string{".venv/"}},
		"systems and editors":           {[]string{".DS_Store", "a/.DS_Store", "a~", ".a.swp", "a.orig"}, nil, []string{".DS_Store", ".a.swp", "a.orig", "a/.DS_Store", "a~"}},
		"twice":                         {[]string{"a.pyc", "b", "a.pyc"}, nil, []string{"a.pyc"}},
		"strange paths":                 {[]string{"", "/", "a//build/x"}, []string{"", "/", "."}, []string{"a//build/"}},
	} {
		var got []string
		for _, e := range Find(c.fresh, c.kept) {
			got = append(got, e.Path)
			if e.Kind == "" {
				t.Errorf("%s: %s has no kind", name, e.Path)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestList: every line is a pattern that can match, and stands there once.
func TestList(t *testing.T) {
	seen := map[pattern]bool{}
	for _, p := range patterns {
		_, err := path.Match(p.glob, "x")
		if key := (pattern{glob: p.glob, dir: p.dir}); err != nil || seen[key] || p.glob == "" || p.glob == "*" || p.kind == "" {
			t.Errorf("%+v: %v", p, err)
		} else {
			seen[key] = true
		}
	}
	if len(patterns) < 60 {
		t.Errorf("only %d patterns were read", len(patterns))
	}
}
