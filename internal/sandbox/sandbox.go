// Package sandbox keeps a program and all that it starts inside a few directories.
//
// Two mechanisms work together, each as far as the kernel offers it:
//
//   - Landlock lets the program read and run toolchains, write the directories of
//     its [Policy] and a private temporary one, and nothing else; from ABI 6 on it
//     also keeps it from signalling processes outside, and it never lets it trace
//     them or read their memory and environment.
//   - Namespaces give it its own processes, a fresh /proc, empty directories in
//     place of homes, /tmp and /run with their sockets, file systems that are
//     read-only but for what it may write, and, if the policy says so, a network
//     that consists of the loopback interface alone.
//
// Both are inherited for ever, also by root, whose capabilities are cut down to
// those over files. Landlock rules are bound to a thread: a process that wants
// to start a program inside restricts the thread that starts it ([Box]).
//
// The program sees no home but an empty one of its own. The toolchains of the real
// home can be read; what holds keys cannot, nor can caches that the policy does not name.
//
// With a [Policy.Root] it sees the file system of a container image in place of the machine's,
// with a layer of its own over it.
//
// What stays open: with Landlock alone (no namespaces), modes and times of files
// that the user owns, sockets in directories (before ABI 9), UDP (before ABI 10),
// and /proc is not there at all; with the network on, whatever listens on the
// machine's loopback interface; always, how much memory, disk and time it takes.
//
// Without Landlock and without namespaces nothing is kept in. [Policy.Check] says
// so, and a policy that is Required refuses.
package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Variable is the environment variable in which a sandboxed program finds its
// own policy, so that it can put what it starts into a box of its own.
const Variable = "AGENT_SANDBOX"

// Policy says what a program may reach beside the toolchains. Paths are absolute.
type Policy struct {
	Write     []string `json:"write,omitempty"`      // trees that it may change and run programs from
	Read      []string `json:"read,omitempty"`       // trees or files that it may read and run
	Deny      []string `json:"deny,omitempty"`       // not readable even where a tree above is
	Unnamed   []string `json:"unnamed,omitempty"`    // directories that are readable only as far as Read names what is in them
	NoNetwork bool     `json:"no_network,omitempty"` // nothing but its own loopback
	Required  bool     `json:"required,omitempty"`   // better not at all than without a part of this
	Keep      []string `json:"keep,omitempty"`       // names of variables that keep their value
	Home      string   `json:"home,omitempty"`       // the home that is not its own

	Root string `json:"root,omitempty"` // an image's file system, which it sees in place of the machine's; "": the machine's

	Private string   `json:"private,omitempty"` // directory of its own; see NewPrivate
	Proc    bool     `json:"proc,omitempty"`    // /proc shows its own processes only
	Hidden  bool     `json:"hidden,omitempty"`  // homes, /tmp and /run are its own
	Alone   bool     `json:"alone,omitempty"`   // its network is its own
	Granted []string `json:"granted,omitempty"` // all that can be read; see Granting
	Leader  bool     `json:"leader,omitempty"`  // its parent is process 1 of its own processes
}

// Text is the policy as [Parse] reads it.
func (p Policy) Text() string {
	text, _ := json.Marshal(p) // strings and booleans
	return string(text)
}

// Parse reads the text of a policy.
func Parse(text string) (Policy, error) {
	var p Policy
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, fmt.Errorf("sandbox: the policy is malformed: %w", err)
	}
	return p, nil
}

// Status is what this machine offers.
type Status struct {
	Landlock   int    // ABI version; 0: none
	Namespaces bool   // of users, processes, mounts and network
	Reason     string // why there are no namespaces
}

// Lines describes the mechanisms, one each.
func (s Status) Lines() []string {
	landlock := fmt.Sprintf("landlock: ABI %d", s.Landlock)
	if s.Landlock == 0 {
		landlock = "landlock: not available (the kernel lacks it or does not enable it)"
	}
	if !s.Namespaces {
		return []string{landlock, "namespaces: not available: " + s.Reason}
	}
	return []string{landlock, "namespaces: user, process, mount, network"}
}

// The oldest Landlock versions with what is wanted.
const (
	abiReparent = 2 // files can be moved between directories
	abiTruncate = 3 // files outside cannot be emptied
	abiTCP      = 4 // TCP can be refused
	abiScope    = 6 // processes outside cannot be signalled
)

// Check says which mechanisms a policy gets here, and as an error what it lacks.
func (p Policy) Check() (kind string, err error) { return p.CheckOn(Available()) }

// CheckOn is Check for what a machine offers.
func (p Policy) CheckOn(s Status) (kind string, err error) {
	var has, lacks []string
	if s.Landlock > 0 {
		has = append(has, fmt.Sprintf("Landlock ABI %d", s.Landlock))
	}
	if s.Namespaces {
		has = append(has, "namespaces")
	}
	switch {
	case s.Landlock == 0:
		lacks = append(lacks, "files are not protected: the kernel has no Landlock")
	case s.Landlock < abiTruncate:
		lacks = append(lacks, "files outside can be emptied: Landlock is older than ABI 3")
	}
	if s.Landlock < abiScope && !s.Namespaces {
		lacks = append(lacks, "other processes can be signalled")
	}
	if exposed := p.exposed(); exposed != nil && !s.Namespaces {
		lacks = append(lacks, exposed[0]+" lies in a directory of the server and can be read")
	}
	if p.Root != "" && !s.Namespaces {
		lacks = append(lacks, "there is no container: "+s.Reason)
	}
	if p.NoNetwork && !s.Namespaces {
		lacks = append(lacks, "the network is not off: "+s.Reason)
	}
	if p.Root != "" {
		has = append(has, "container")
	}
	if lacks != nil {
		err = errors.New(strings.Join(lacks, "; "))
	}
	return strings.Join(has, ", "), err
}
