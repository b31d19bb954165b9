package repomap

import (
	"path"
	"slices"
	"strings"
)

// manifests say what a project is made of and how it is built.
var manifests = []string{
	"go.mod", "go.work", "package.json", "pnpm-workspace.yaml", "deno.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini", "noxfile.py",
	"Cargo.toml", "CMakeLists.txt", "Makefile", "GNUmakefile", "makefile", "meson.build", "configure.ac", "Kconfig", "justfile", "Justfile", "Taskfile.yml", "Rakefile",
	"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "build.sbt", "build.xml", "Gemfile", "composer.json", "mix.exs", "rebar.config", "dune-project",
	"Package.swift", "pubspec.yaml", "stack.yaml", "WORKSPACE", "MODULE.bazel", "flake.nix", "Dockerfile", "docker-compose.yml", "compose.yaml", "build.zig", "project.clj",
}

var manifestEndings = []string{".csproj", ".fsproj", ".sln", ".cabal", ".gemspec", ".podspec"}

func isManifest(p string) bool {
	base := path.Base(p)
	return slices.Contains(manifests, base) || slices.Contains(manifestEndings, path.Ext(base)) && strings.Count(p, "/") < 3
}

// entries are names of files in which programs begin, without their endings.
var entries = []string{"main", "__main__", "manage", "cli", "app", "server", "index", "lib", "program", "application", "wsgi", "asgi"}

// entryEndings are those of the languages that such files are written in.
var entryEndings = []string{".go", ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".rs", ".c", ".cc", ".cpp", ".java", ".kt", ".cs", ".rb", ".php", ".swift", ".dart", ".zig", ".scala", ".ex"}

// isEntry takes the files in which programs usually begin, not too deep.
func isEntry(p string) bool {
	base := strings.ToLower(path.Base(p))
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	if !slices.Contains(entries, stem) || !slices.Contains(entryEndings, ext) || testPlace(p) != "" || inExample(p) {
		return false
	}
	depth := strings.Count(p, "/")
	switch stem {
	case "main", "__main__", "manage":
		return depth < 6
	case "index", "lib", "app", "server", "cli":
		return depth < 2 || depth < 4 && strings.HasSuffix(path.Dir(p), "src")
	}
	return depth < 4
}

func inExample(p string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(path.Dir(p)), "/"), func(part string) bool {
		return slices.Contains([]string{"example", "examples", "demo", "demos", "sample", "samples", "docs", "doc", "benchmark", "benchmarks"}, part)
	})
}

// testDirs hold tests and nothing else.
var testDirs = []string{"test", "tests", "testing", "spec", "specs", "__tests__", "e2e", "integration-tests"}

// testPlace says where a test lies: its outermost directory of tests, or the pattern
// of its name. It is empty for what is no test.
func testPlace(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts[:len(parts)-1] {
		if slices.Contains(testDirs, strings.ToLower(part)) {
			return strings.Join(parts[:i+1], "/") + "/"
		}
	}
	base := parts[len(parts)-1]
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch {
	case ext == ".py" && strings.HasPrefix(stem, "test_"):
		return "test_*.py"
	case strings.HasSuffix(stem, "_test"), strings.HasSuffix(stem, "_spec"):
		return "*" + stem[len(stem)-len("_test"):] + ext
	case strings.HasSuffix(stem, ".test"), strings.HasSuffix(stem, ".spec"):
		return "*" + stem[len(stem)-len(".test"):] + ext
	case (ext == ".java" || ext == ".kt" || ext == ".cs" || ext == ".php" || ext == ".swift") && (strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests")):
		return "*Test" + ext
	}
	return ""
}

// foreignDirs hold what was copied, installed or generated.
var foreignDirs = []string{"vendor", "third_party", "third-party", "node_modules", "dist", "build", "generated", "gen", "testdata", "fixtures", "__fixtures__", "__snapshots__", "site-packages", "bower_components"}

// foreign reports whether a file is not what people of the project write.
func foreign(p string) bool {
	parts := strings.Split(strings.ToLower(p), "/")
	if slices.ContainsFunc(parts[:len(parts)-1], func(part string) bool { return slices.Contains(foreignDirs, part) }) {
		return true
	}
	base := parts[len(parts)-1]
	for _, mark := range []string{".min.", ".pb.", "_pb2.", ".generated.", "_generated.", "zz_generated", ".snap", "-lock.", ".lock", ".bundle."} {
		if strings.Contains(base, mark) {
			return true
		}
	}
	return false
}

// kindOf is the ending of a file's name, "" if it has none that says something.
func kindOf(base string) string {
	ext := strings.TrimPrefix(path.Ext(base), ".")
	if ext == "" || len(ext) > 10 || strings.HasPrefix(base, ".") && strings.Count(base, ".") == 1 {
		return ""
	}
	return strings.ToLower(ext)
}

// prose are kinds of files that are no source.
var prose = []string{"", "md", "rst", "txt", "json", "yaml", "yml", "toml", "xml", "html", "csv", "po", "svg", "png", "jpg", "gif", "ico", "log", "lock", "snap", "pdf", "sum"}

func isSource(p string) bool { return !slices.Contains(prose, kindOf(path.Base(p))) && !foreign(p) }
