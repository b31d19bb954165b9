package sandbox

import "os/exec"

// ofPrograms is what programs of the system need to run at all, and ofNetwork
// what they need beside it to find hosts and check certificates.
var (
	ofPrograms = []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store",
		"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/sys/devices/system/cpu",
	}
	ofNetwork = []string{
		"/etc/ca-certificates", "/etc/crypto-policies", "/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/nsswitch.conf",
		"/etc/pki/ca-trust", "/etc/pki/tls/cert.pem", "/etc/pki/tls/certs", "/etc/protocols", "/etc/resolv.conf", "/etc/services",
		"/etc/ssl/cert.pem", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
	}
)

// Confinement says which files a program of our own, as git, may reach beside
// what it needs to run.
type Confinement struct {
	Program string   // its name; its installation can be read and run
	Write   []string // trees that it may change; none of them may be a link
	Read    []string // trees and files that it may read
	Network bool     // it looks up hosts and checks certificates
}

// readable lists what the confined program may read and run.
func (c Confinement) readable() []string {
	all := append([]string(nil), ofPrograms...)
	if c.Network {
		all = append(all, ofNetwork...)
	}
	if path, err := exec.LookPath(c.Program); err == nil {
		all = append(all, Policy{}.installed(path)...)
	}
	return present(append(all, c.Read...))
}
