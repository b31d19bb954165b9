package caches

import (
	"slices"
	"strings"
)

// kind is one tool's cache.
type kind struct {
	name     string // of its directory
	variable string // that names the directory to the tool
	parts    []part
}

// part is a directory of a kind that is kept. What is not listed is not: settings
// ($CARGO_HOME/config.toml, init scripts of Gradle, ccache.conf), programs that npx and
// cargo installed, and sources that were unpacked from an archive beside them.
type part struct {
	path  string                 // below the kind; "": all of it
	check check                  // of downloads; nil: nothing says whether a file is right
	skip  func(name string) bool // first name below path that is not kept
}

var kinds = []kind{
	{"go-build", "GOCACHE", []part{{}}},
	{"go-mod", "GOMODCACHE", []part{{path: "cache/download", check: goModule}}},
	{"npm", "npm_config_cache", []part{
		{path: "_cacache/content-v2", check: npmContent},
		{path: "_cacache/index-v5"}, // says which content an address has
	}},
	{"pip", "PIP_CACHE_DIR", []part{{}}},
	{"cargo", "CARGO_HOME", []part{{path: "registry/cache"}, {path: "registry/index"}, {path: "git/db"}}},
	{"ccache", "CCACHE_DIR", []part{{skip: func(name string) bool { return !slices.Contains(ccacheDirs, name) }}}},
	{"gradle", "GRADLE_USER_HOME", []part{{path: "caches"}, {path: "wrapper/dists"}}},
	{"xdg", "XDG_CACHE_HOME", []part{{}}},
}

// ccacheDirs are the directories that ccache spreads its files over.
var ccacheDirs = strings.Split("0123456789abcdef", "")
