// Package imagetest makes a small container image of programs of this machine, with a
// toolchain that the machine does not have.
package imagetest

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Env are the variables of the image.
var Env = []string{"PATH=/opt/frob/bin:/usr/bin:/bin", "FROB_HOME=/opt/frob"}

// frob is a compiler of a language that no machine has: it turns .frob into .out.
const frob = `#!/bin/sh
set -e
test "$FROB_HOME" = /opt/frob
for f in *.frob; do tr a-z A-Z < "$f" > "${f%.frob}.out"; done
echo frobbed
`

// programs are those of the machine that the image has, too.
var programs = []string{"sh", "cat", "ls", "id", "env", "sleep", "touch", "tr", "rm", "mkdir", "chmod", "ln", "setsid"}

// Tar is the image's file system as a tar stream.
func Tar(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	have := map[string]bool{}
	for _, program := range programs {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("%s is not here", program)
		}
		for _, lib := range libraries(t, path) {
			add(t, w, have, lib, 0o755, read(t, lib))
		}
		add(t, w, have, "/usr/bin/"+program, 0o755, read(t, path))
	}
	link(t, w, "bin", "usr/bin")
	link(t, w, "lib", "usr/lib")
	link(t, w, "lib64", "usr/lib64")
	add(t, w, have, "/opt/frob/bin/frob", 0o755, []byte(frob))
	add(t, w, have, "/etc/passwd", 0o644, []byte("root:x:0:0::/root:/bin/sh\n"))
	add(t, w, have, "/etc/image", 0o644, []byte("frob\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// libraries are those that a program needs, and their loader, with /lib as /usr/lib.
func libraries(t testing.TB, program string) (paths []string) {
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		return nil // it needs none
	}
	for field := range strings.FieldsSeq(string(out)) {
		if filepath.IsAbs(field) {
			paths = append(paths, field)
		}
	}
	return paths
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// add writes a file, once. /lib is /usr/lib in it.
func add(t testing.TB, w *tar.Writer, have map[string]bool, path string, mode int64, content []byte) {
	t.Helper()
	name := strings.TrimPrefix(path, "/")
	if strings.HasPrefix(name, "lib") {
		name = "usr/" + name
	}
	if have[name] {
		return
	}
	have[name] = true
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))})
	if err == nil {
		_, err = io.Copy(w, bytes.NewReader(content))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, w *tar.Writer, name, to string) {
	t.Helper()
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}); err != nil {
		t.Fatal(err)
	}
}

// Name is what the image is called in the store that Podman makes.
const Name = "localhost/frob:1"

// Podman returns a directory with the real podman, working on a store of its own that holds the
// image. Where none is installed the test is skipped.
func Podman(t testing.TB) (dir string) {
	t.Helper()
	real, err := exec.LookPath("podman")
	if err != nil {
		t.Skip("podman is not installed")
	}
	if dir, err = os.MkdirTemp("/tmp", "image"); err != nil { // podman takes no long path
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	tool := filepath.Join(dir, "podman")
	script := "#!/bin/sh\nexec " + real + " --storage-driver vfs --root '" + dir + "/store' --runroot '" + dir + "/run' \"$@\"\n"
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(tool, "import", "--change", "ENV "+Env[0], "--change", "ENV "+Env[1], "-", Name)
	run.Stdin = bytes.NewReader(Tar(t))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command(tool, "rmi", "--all", "--force").Run() })
	return dir
}
