package event

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of the current versions")

// goldenOf names the golden file of a version of a shape. Files of released
// versions are never changed or removed: they prove that old logs stay readable.
func goldenOf(kind string, v int) string {
	return filepath.Join("testdata", "golden", fmt.Sprintf("v%d", v), kind+".json")
}

// The stored shape of every type, field by field. A difference here is a
// changed format: raise the version and add an upcaster instead of updating.
func TestGolden(t *testing.T) {
	for _, kind := range Types() {
		got := encode(t, sample(kind), false)
		file := goldenOf(kind, registry[kind].version)
		if *update {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, append(got, '\n'), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v (run with -update for a new type)", err)
			continue
		}
		if want = bytes.TrimSuffix(want, []byte("\n")); !bytes.Equal(got, want) {
			t.Errorf("%s is stored as\n%s\nwant\n%s", kind, got, want)
		}
	}
}

// Every golden file, of old versions too, decodes to something of its kind;
// those of the current version to the sample they were made from.
func TestGoldenFilesDecode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "v*", "*.json"))
	if err != nil || len(files) < len(registry) {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		kind := strings.TrimSuffix(filepath.Base(file), ".json")
		var v int
		if _, err := fmt.Sscanf(filepath.Base(filepath.Dir(file)), "v%d", &v); err != nil {
			t.Fatal(file, err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := DecodeBody(kind, v, bytes.TrimSpace(data))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if _, unknown := b.(*Unknown); unknown {
			t.Errorf("%s: a released type is gone", file)
		}
		if v == Version(b) && !reflect.DeepEqual(b, sample(kind)) {
			t.Errorf("%s: decoded to\n%+v\nwant\n%+v", file, b, sample(kind))
		}
	}
}

func encode(t *testing.T, b Body, redacted bool) []byte {
	t.Helper()
	data, err := Encode(b, redacted)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
