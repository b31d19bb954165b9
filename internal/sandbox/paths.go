package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// system is what every program may read and run. From /etc it is a list, since
// root could read the keys there.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/snap",
	"/etc/alternatives", "/etc/bash.bashrc", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies",
	"/etc/debian_version", "/etc/fonts", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/inputrc", "/etc/java",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/localtime", "/etc/login.defs",
	"/etc/magic", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/pki/ca-trust",
	"/etc/pki/tls/cert.pem", "/etc/pki/tls/certs", "/etc/profile", "/etc/protocols", "/etc/python3", "/etc/resolv.conf",
	"/etc/services", "/etc/shells", "/etc/ssl/cert.pem", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/timezone",
	"/sys/devices/system/cpu", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
}

// ofHome are toolchains in a home. Directories that also hold keys are not
// listed themselves (.cargo has credentials.toml).
var ofHome = []string{
	"go/bin", "sdk", ".cargo/bin", ".rustup", ".nvm/versions", ".volta/bin", ".volta/tools", ".fnm", ".pyenv", ".rbenv",
	".asdf/bin", ".asdf/installs", ".asdf/shims", ".sdkman/candidates", ".bun/bin", ".deno/bin", ".local/bin", ".local/lib", ".local/share/mise/installs",
}

// machine are files of /proc that say nothing about processes; for a program
// that has no /proc of its own.
var machine = []string{"/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/sys", "/proc/uptime", "/proc/version"}

// devices can be read and written.
var devices = []string{"/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"}

// readable lists what the policy lets a program read and run. path is its PATH.
func (p Policy) readable(path string) []string {
	if p.Granted != nil {
		return present(slices.Clone(p.Granted))
	}
	all := slices.Clone(system)
	if p.Home != "" {
		for _, name := range ofHome {
			all = append(all, filepath.Join(p.Home, name))
		}
	}
	for _, dir := range filepath.SplitList(path) {
		all = append(all, p.programs(dir)...)
	}
	if p.Proc {
		all = append(all, "/proc")
	} else {
		all = append(all, machine...)
	}
	var granted []string
	slices.Sort(all) // programs of several directories have the same libraries
	for _, path := range present(slices.Compact(all)) {
		granted = append(granted, without(path, slices.Concat(p.Deny, p.Unnamed, secretive))...)
	}
	for _, path := range present(p.Read) {
		granted = append(granted, without(path, p.Deny)...)
	}
	return granted
}

// secretive are directories in the system's trees with configuration, as /etc.
var secretive = []string{"/usr/local/etc"}

// Granting is the policy as what runs inside may see it: what is granted, without
// what is denied and where the home is. path is its PATH.
func (p Policy) Granting(path string) Policy {
	p.Granted = p.readable(path)
	p.Read, p.Deny, p.Unnamed, p.Home, p.Keep = nil, nil, nil, "", nil
	return p
}

// without is a tree, or what is in it beside the denied paths: the kernel takes
// grants only.
func without(tree string, deny []string) []string {
	real, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return nil
	}
	holds, lies := false, false
	for _, denied := range deny {
		holds = holds || within(denied, real)
		lies = lies || within(real, denied)
	}
	switch {
	case lies:
		return nil
	case !holds:
		return []string{tree}
	}
	entries, _ := os.ReadDir(real)
	var parts []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 { // what a link leads to needs a grant of its own
			parts = append(parts, without(filepath.Join(real, e.Name()), deny)...)
		}
	}
	return parts
}

// programs are a directory of PATH with what belongs to its programs.
func (p Policy) programs(dir string) []string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) || real == "/" || p.inHome(real) {
		return nil // not a directory of programs
	}
	return append([]string{real}, p.toolchain(filepath.Dir(real))...)
}

// installed is the directory of a program, links followed, with what belongs to it.
func (p Policy) installed(program string) []string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return nil
	}
	return p.programs(filepath.Dir(real))
}

func (p Policy) inHome(path string) bool { return p.Home != "" && within(p.Home, path) }

// toolchain is what programs need of the directory above their own: all of a
// known toolchain, else the parts that hold code and data by custom. Others, as
// etc and var, may hold the secrets of a service that was installed there.
func (p Policy) toolchain(root string) (all []string) {
	if root == "/" || p.inHome(root) {
		return nil
	}
	for _, mark := range []string{"pkg/tool", "lib/modules", "jre/lib"} { // Go, Java
		if exists(filepath.Join(root, mark)) {
			return []string{root}
		}
	}
	for _, part := range []string{"include", "lib", "lib32", "lib64", "libexec", "pyvenv.cfg", "share"} {
		all = append(all, filepath.Join(root, part))
	}
	return all
}

func (p Policy) writable() []string {
	all := slices.Clone(p.Write)
	if p.Private != "" {
		all = append(all, p.Private)
	}
	if p.Hidden {
		all = append(all, "/dev/shm", "/tmp")
	}
	return present(all)
}

// exposed are denied paths, links followed, in trees that may be written.
func (p Policy) exposed() (paths []string) {
	for _, denied := range p.Deny {
		real, err := filepath.EvalSymlinks(denied)
		if err != nil || slices.Contains(paths, real) {
			continue
		}
		for _, tree := range p.Write {
			if root, err := filepath.EvalSymlinks(tree); err == nil && within(real, root) && real != root {
				paths = append(paths, real)
				break
			}
		}
	}
	return paths
}

// ForCommand lists what a command line needs to be read: its program, and files
// and installations that its words name. The operator wrote it; but the name of a
// home is not meant to open the keys in it.
func ForCommand(argv []string, home string) []string {
	var all []string
	for _, word := range argv {
		_, value, _ := strings.Cut(word, "=")
		for _, path := range []string{word, value} {
			if filepath.IsAbs(path) && !within(home, path) && path != "/" && exists(path) {
				all = append(all, installation(path))
			}
		}
	}
	return all
}

// installation widens a file to the packages or the virtual environment it is a part of.
func installation(path string) string {
	const packages = "/node_modules/"
	if i := strings.Index(path, packages); i > 0 {
		return path[:i+len(packages)-1]
	}
	root := filepath.Dir(filepath.Dir(path))
	if exists(filepath.Join(root, "pyvenv.cfg")) {
		return root
	}
	return path
}

func present(paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return !exists(p) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// within tells whether path is dir or below it. Arguments are (path, dir).
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
