package i18n

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every text that the program names is in the table.
func TestTextsExist(t *testing.T) {
	id := regexp.MustCompile(`"((?:status|why|stats|dry|doctor|init|demo)\.[a-z_.]+)"`)
	seen := 0
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "eventlog/event") { // types of events
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range id.FindAllStringSubmatch(string(source), -1) {
			seen++
			prefix := strings.HasSuffix(m[1], ".") // of the words of a vocabulary
			if name := ID(m[1]); !Has(name) && !Has(name+"other") && !prefix {
				t.Errorf("%s: no text %q", path, name)
			}
		}
		return err
	})
	if err != nil || seen < 300 { // the tables alone name that many
		t.Fatalf("%d texts were looked for: %v", seen, err)
	}
}
