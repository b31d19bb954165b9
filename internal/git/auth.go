package git

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
)

// auth is the only remote there is, with the token that may go to it. The zero
// value reaches nothing.
type auth struct {
	url   string // of the repository, as Options had it
	token string
	local bool // the remote is a local path
}

func newAuth(o Options) (auth, error) {
	if strings.ContainsFunc(o.URL, unicode.IsControl) || strings.HasPrefix(o.URL, "-") {
		return auth{}, errors.New("the URL is not valid")
	}
	if filepath.IsAbs(o.URL) {
		return auth{url: o.URL, local: true}, nil
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil, u.Opaque != "", u.RawQuery != "", u.Fragment != "":
		return auth{}, errors.New("the URL is not valid") // the parser's error repeats it
	case u.User != nil:
		return auth{}, errors.New("the URL must have no user or password")
	case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(u.Path):
		return auth{url: o.URL, local: true}, nil
	case (u.Scheme != "https" && u.Scheme != "http") || u.Host == "":
		return auth{}, errors.New("the URL must begin with https:// or be an absolute path")
	case u.Scheme == "http" && o.Token != "" && !o.AllowHTTP && !loopback(u.Hostname()):
		return auth{}, fmt.Errorf("http to %s would send the token unencrypted", u.Host)
	}
	return auth{url: o.URL, token: o.Token}, nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && address.Unmap().IsLoopback())
}

// basic is the token as both GitHub and GitLab take it over HTTP.
func (a auth) basic() string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + a.token))
}

// protocols is git's list of what it may speak; it wins over all configuration.
func (a auth) protocols() string {
	switch {
	case a.local:
		return "file"
	case a.url == "":
		return "none"
	}
	return "http:https"
}

// environment hands the token over. Arguments would show it to every process.
// Other repositories of the same host do not get it.
func (a auth) environment() []string {
	env := []string{"GIT_ALLOW_PROTOCOL=" + a.protocols()}
	if a.token == "" {
		return env
	}
	return append(env,
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=http."+a.url+".extraHeader",
		"GIT_CONFIG_VALUE_0=Authorization: Basic "+a.basic(),
	)
}

func (a auth) redact(s string) string {
	if a.token == "" {
		return s
	}
	return strings.NewReplacer(a.token, "[token]", a.basic(), "[token]").Replace(s)
}

// checkBranch takes the names that git takes, less those that look like options.
func checkBranch(name string) error {
	bad := name == "" || name == "HEAD" || name == "@" || strings.HasPrefix(name, "-") ||
		strings.ContainsAny(name, " ~^:?*[\\") || strings.ContainsFunc(name, unicode.IsControl) ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".")
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("%q is not a branch name", name)
	}
	return nil
}
