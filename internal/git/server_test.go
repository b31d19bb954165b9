package git

import (
	"net/http"
	"net/http/cgi"
	"os"
	"path/filepath"
	"strings"
)

// serveBackend answers with git's own HTTP server program.
func serveBackend(w http.ResponseWriter, r *http.Request, backend, root string) {
	h := &cgi.Handler{
		Path: backend, Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "REMOTE_USER=agent"},
	}
	h.ServeHTTP(w, r)
}

// commandLines are the arguments of all processes, where the system shows them as files.
func commandLines() string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var all strings.Builder
	for _, f := range files {
		text, _ := os.ReadFile(f) // the process may be gone
		all.Write(text)
	}
	return all.String()
}
