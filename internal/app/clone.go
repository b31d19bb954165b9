package app

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"agent/internal/config"
)

// CloneError is a clone URL that leads somewhere else than to the forge. Of the URL it
// says only where: the rest may hold a password.
type CloneError struct {
	Where string // what clone_from would have to list
	Host  string // of the forge
}

func (e *CloneError) Error() string {
	return fmt.Sprintf("%s tells the agent to clone from %s, which is not part of it", e.Host, e.Where)
}

// AllowClone says whether a forge may have its repositories cloned from a URL: from
// itself, by the scheme of its API, and from what clone_from lists. Nothing else gets
// the token, and no repository of this machine is read.
func AllowClone(f config.Forge, raw string) error {
	if f.Driver.Local {
		return nil // the operator named it
	}
	if dir, local := localPath(raw); local {
		for _, allowed := range f.CloneFrom {
			if filepath.IsAbs(allowed) && within(dir, filepath.Clean(allowed)) {
				return nil
			}
		}
		return &CloneError{"a path of this machine", f.Host()}
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return &CloneError{"an address that is not https", f.Host()}
	}
	api, err := url.Parse(f.APIURL)
	if err != nil {
		return err // the configuration was checked
	}
	web, _, _ := strings.Cut(f.Host(), "/")
	host, secure := hostOf(u.Scheme, u.Host), u.Scheme == "https"
	if (u.Scheme == api.Scheme) && (host == hostOf(api.Scheme, api.Host) || host == hostOf(api.Scheme, web)) {
		return nil
	}
	for _, allowed := range f.CloneFrom {
		if secure && hostOf("https", allowed) == host || !secure && "http://"+host == strings.ToLower(allowed) {
			return nil
		}
	}
	return &CloneError{u.Scheme + "://" + host, f.Host()}
}

// localPath reads an absolute path or a file URL.
func localPath(raw string) (dir string, local bool) {
	if filepath.IsAbs(raw) {
		return filepath.Clean(raw), true
	}
	u, err := url.Parse(raw)
	if err != nil || !strings.EqualFold(u.Scheme, "file") {
		return "", false
	}
	if u.Host != "" {
		return "", true // of another machine: within nothing
	}
	return filepath.Clean(u.Path), true
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// hostOf is a host in lower case, without the port that its scheme has anyway.
func hostOf(scheme, host string) string {
	port := map[string]string{"https": ":443", "http": ":80"}[scheme]
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(host), "https://"), port)
}
