package contexts

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The file system of the tests is declared a bad one for a moment.
func TestNetworkFileSystem(t *testing.T) {
	_, dir := realStore(t, Options{})
	var st unix.Statfs_t
	must(t, unix.Statfs(dir, &st))
	kind := uint32(st.Type)
	mediums[kind] = "NFS"
	defer delete(mediums, kind)
	_, err := openReal(dir, Options{})
	wantExit(t, err, ExitConfig)
	if !strings.Contains(err.Error(), "NFS") || !strings.Contains(err.Error(), dir) {
		t.Errorf("says %v", err)
	}
	must(t, second(openReal(dir, Options{Force: true})))
	must(t, second(openReal(dir, Options{ReadOnly: true})))
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
