package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Debian package is an ar archive of three members: the version of the format, what is said of the
// package, and its files, the last two as packed tar streams (deb(5)). It is written here, and not by dpkg-deb
// or debhelper, so that it is made on any machine, and has the same bytes there.

// debFiles are the files of the package that lie in deploy/debian, and where they go.
var debFiles = []struct {
	from, to string
	mode     int64
}{
	{"agent.service", "usr/lib/systemd/system/agent.service", 0o644},
	{"agent.sysusers", "usr/lib/sysusers.d/agent.conf", 0o644},
	{"agent.tmpfiles", "usr/lib/tmpfiles.d/agent.conf", 0o644},
	{"config.yaml.example", "etc/agent/config.yaml.example", 0o644},
	{"env", "etc/agent/env", 0o600},
	{"README.Debian", "usr/share/doc/agent/README.Debian", 0o644},
	{"copyright", "usr/share/doc/agent/copyright", 0o644},
	{"changelog", "usr/share/doc/agent/changelog.gz", 0o644},
	{"lintian-overrides", "usr/share/lintian/overrides/agent", 0o644},
}

// maintainer of the package is the machine that it is installed on: dpkg wants an address, and this project has none.
const maintainer = "agent <root@localhost>"

// member is one file of a tar stream.
type member struct {
	name string
	data []byte
	mode int64
}

// deb writes agent_VERSION_ARCH.deb.
func (b *build) deb(arch, binary string) error {
	files, err := b.debContents(arch, binary)
	if err != nil {
		return err
	}
	size, sums, conffiles := 0, "", ""
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
		sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.name)
		if strings.HasPrefix(f.name, "etc/") {
			conffiles += "/" + f.name + "\n"
		}
	}
	said := []member{{"md5sums", []byte(sums), 0o644}, {"conffiles", []byte(conffiles), 0o644}}
	for name, mode := range map[string]int64{"control": 0o644, "postinst": 0o755, "prerm": 0o755, "postrm": 0o755} {
		text, err := b.debText(name, arch, size)
		if err != nil {
			return err
		}
		said = append(said, member{name, text, mode})
	}
	out := bytes.NewBufferString("!<arch>\n")
	for _, m := range []member{{"debian-binary", []byte("2.0\n"), 0o644}, {"control.tar.gz", b.tarOf(said), 0o644}, {"data.tar.gz", b.tarOf(files), 0o644}} {
		fmt.Fprintf(out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, b.time.Unix(), 0, 0, 0o100000|m.mode, len(m.data))
		out.Write(m.data)
		if len(m.data)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return os.WriteFile(filepath.Join(b.out, "agent_"+b.version+"_"+arch+".deb"), out.Bytes(), 0o644)
}

// debContents are the files that the package installs.
func (b *build) debContents(arch, binary string) (files []member, err error) {
	add := func(name string, mode int64, data []byte, readErr error) {
		if err = errors.Join(err, readErr); strings.HasSuffix(name, ".gz") {
			data = packed(data)
		}
		files = append(files, member{name, data, mode})
	}
	for _, f := range debFiles {
		text, readErr := b.debText(f.from, arch, 0)
		add(f.to, f.mode, text, readErr)
	}
	pages, _ := filepath.Glob(filepath.Join(b.work, "man", "man1", "*.1"))
	for _, page := range pages {
		text, readErr := os.ReadFile(page)
		add("usr/share/man/man1/"+filepath.Base(page)+".gz", 0o644, text, readErr)
	}
	for shell, to := range map[string]string{"bash": "bash-completion/completions/agent", "zsh": "zsh/vendor-completions/_agent", "fish": "fish/vendor_completions.d/agent.fish"} {
		text, runErr := output(b.dir, nil, filepath.Join(b.work, "here", "agent"), "completion", shell)
		add("usr/share/"+to, 0o644, []byte(text+"\n"), runErr)
	}
	program, readErr := os.ReadFile(binary)
	add("usr/bin/agent", 0o755, program, readErr)
	changes, readErr := os.ReadFile(filepath.Join(b.dir, "CHANGELOG.md"))
	add("usr/share/doc/agent/CHANGELOG.md.gz", 0o644, changes, readErr)
	licences, readErr := os.ReadFile(filepath.Join(b.work, licencesFile))
	add("usr/share/doc/agent/LICENSES.gz", 0o644, licences, readErr)
	slices.SortFunc(files, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return files, err
}

// debText is a file of deploy/debian with what only the build knows.
func (b *build) debText(name, arch string, size int) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(b.dir, "deploy", "debian", name))
	values := strings.NewReplacer("{version}", b.version, "{arch}", arch, "{maintainer}", maintainer,
		"{size}", fmt.Sprint(size), "{year}", b.time.Format("2006"), "{date}", b.time.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	return []byte(values.Replace(string(text))), err
}

// tarOf packs files, sorted, with the directories that they lie in.
func (b *build) tarOf(files []member) []byte {
	all := map[string]member{}
	for _, f := range files {
		all[f.name] = f
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			all[dir] = member{dir + "/", nil, 0o755}
		}
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var stream bytes.Buffer
	t := tar.NewWriter(&stream)
	for _, name := range names {
		f := all[name]
		head := tar.Header{Typeflag: tar.TypeReg, Name: "./" + f.name, Size: int64(len(f.data)), Mode: f.mode, ModTime: b.time, Uname: "root", Gname: "root", Format: tar.FormatGNU}
		if strings.HasSuffix(f.name, "/") {
			head.Typeflag = tar.TypeDir
		}
		_ = t.WriteHeader(&head) // to memory
		_, _ = t.Write(f.data)
	}
	_ = t.Close()
	return packed(stream.Bytes())
}

// packed is what gzip -9n makes.
func packed(data []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is one
	_, _ = z.Write(data)
	_ = z.Close()
	return out.Bytes()
}
