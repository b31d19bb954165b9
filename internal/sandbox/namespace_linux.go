package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Available looks what this machine offers, once. It starts a process.
var Available = sync.OnceValue(func() Status {
	s := Status{Landlock: abi()}
	if reason := tryNamespaces(); reason != "" {
		s.Reason = reason
		return s
	}
	s.Namespaces = true
	return s
})

// Restricted says why namespaces that can be made here are of no use, or nothing.
func Restricted() string {
	if limited, _ := os.ReadFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"); os.Geteuid() != 0 && strings.TrimSpace(string(limited)) == "1" {
		return "AppArmor keeps user namespaces from unprivileged users (kernel.apparmor_restrict_unprivileged_userns)"
	}
	return ""
}

// tryNamespaces says why there are none, or nothing.
func tryNamespaces() string {
	if reason := Restricted(); reason != "" {
		return reason
	}
	path, err := exec.LookPath("true")
	if err != nil {
		return "there is no program to try it with"
	}
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: cloneFlags(true)} // without ids, which an undumpable process cannot set
	if err := cmd.Run(); err != nil {
		return fmt.Sprintf("user namespaces cannot be made (%v)", unwrap(err))
	}
	return ""
}

func unwrap(err error) error {
	if inner, ok := err.(*os.PathError); ok {
		return inner.Err
	}
	return err
}

func cloneFlags(noNetwork bool) uintptr {
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC)
	if noNetwork {
		flags |= unix.CLONE_NEWNET
	}
	return flags
}

// Namespaces makes a child the first process of namespaces of its own. It then calls Enter.
func (p Policy) Namespaces(attr *syscall.SysProcAttr) {
	attr.Cloneflags = cloneFlags(p.NoNetwork)
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_DAC_OVERRIDE} // for Enter; only root's survive exec by themselves
	attr.UidMappings = mapping("/proc/self/uid_map", os.Geteuid())
	attr.GidMappings = mapping("/proc/self/gid_map", os.Getegid())
}

// mapping keeps all ids for root, who may, and the own one for others.
func mapping(file string, own int) []syscall.SysProcIDMap {
	if os.Geteuid() != 0 {
		return []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	}
	f, err := os.Open(file)
	if err != nil {
		return []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	}
	defer f.Close()
	var all []syscall.SysProcIDMap
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var inside, outside, size int
		if _, err := fmt.Sscan(lines.Text(), &inside, &outside, &size); err == nil {
			all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
		}
	}
	return all
}

// Enter arranges the namespaces that the process is the first one of, and
// returns the policy as it is now, with what it lacks and what is merely less handy.
func (p Policy) Enter() (now Policy, lacks, notes []string) {
	p.Alone = p.NoNetwork
	yieldMemory()
	try := func(what string, err error) bool {
		if err != nil {
			lacks = append(lacks, fmt.Sprintf("%s: %v", what, err))
		}
		return err == nil
	}
	if !try("mounts", unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, "")) {
		return p, lacks, notes
	}
	if p.Root != "" {
		now, notes, err := p.enterRoot()
		if try("the container", err) && p.NoNetwork {
			notes = append(notes, loopback()...)
		}
		return now, lacks, notes
	}
	p.Hidden = try("homes, /tmp and /run are not hidden", p.hide())
	try("file systems are not read-only", p.seal())
	try("what is denied can be read", p.mask())
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		notes = append(notes, fmt.Sprintf("/proc cannot be read: %v", err))
	} else {
		p.Proc = true
		boundPIDs()
	}
	if p.NoNetwork {
		notes = append(notes, loopback()...)
	}
	return p, lacks, notes
}

// loopback brings the interface up, and says so if it cannot.
func loopback() (notes []string) {
	if err := loopbackUp(); err != nil {
		notes = append(notes, fmt.Sprintf("there is no loopback interface: %v", err))
	}
	return notes
}

// loopbackUp lets programs inside talk to each other.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}
