package workspace

import (
	"bytes"
	"strings"
)

// refusals are what programs say where the sandbox stopped them. They name the kernel's
// error, not the sandbox, and a model would look for the cause in the project.
type refusals struct {
	boxed     bool // there is a sandbox
	noNetwork bool
	files     bool // a right to a file was refused
	network   bool // a host was not found or reached
}

func (w *workspace) refusals() refusals {
	return refusals{boxed: w.box != nil, noNetwork: w.policy.NoNetwork}
}

// ofFiles and ofNetwork are the words of the kernel, of C libraries and of runtimes, in lower case.
var (
	ofFiles   = [][]byte{[]byte("permission denied"), []byte("read-only file system"), []byte("operation not permitted"), []byte("eacces"), []byte("erofs"), []byte("eperm")}
	ofNetwork = [][]byte{
		[]byte("could not resolve"), []byte("couldn't resolve"), []byte("name resolution"), []byte("name or service not known"), []byte("no such host"), []byte("nodename nor servname"),
		[]byte("network is unreachable"), []byte("enetunreach"), []byte("enotfound"), []byte("eai_again"), []byte("failed to lookup address"), []byte("no route to host"),
		[]byte("dial tcp"), []byte("unknownhostexception"), []byte("getaddrinfo"), []byte("failed to establish a new connection"),
	}
)

// line reads a line of output.
func (f *refusals) line(line []byte) {
	if !f.boxed || f.files && (f.network || !f.noNetwork) {
		return
	}
	lower := bytes.ToLower(line)
	f.files = f.files || containsAny(lower, ofFiles)
	f.network = f.network || f.noNetwork && containsAny(lower, ofNetwork)
}

func containsAny(line []byte, words [][]byte) bool {
	for _, word := range words {
		if bytes.Contains(line, word) {
			return true
		}
	}
	return false
}

// text says what the sandbox has to do with a command that failed, "" for nothing.
func (f refusals) text(end string) string {
	if end == "0" {
		return ""
	}
	var parts []string
	if f.network {
		parts = append(parts, "the sandbox has no network")
	}
	if f.files {
		parts = append(parts, "the sandbox lets commands write only to the repository, $HOME and $TMPDIR, and hides other files")
	}
	return strings.Join(parts, "; ")
}
