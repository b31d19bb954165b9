package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var recipe = regexp.MustCompile("(?m)^\\| [^|]* \\| `(jq .*)` \\|$")

// call is an intent and its outcome; the golden log has no causes.
const call = `{"seq":901,"time":"2026-11-27T20:41:48.123456Z","type":"tool.requested","cause":0,"data":{"server":"s","tool":"t","args":"{}"}}
{"seq":902,"time":"2026-11-27T20:41:48.123456Z","type":"tool.replied","cause":901,"data":{"content":"c","duration_ms":1}}
`

// TestRecipes runs each jq recipe of docs/log-format.md over a golden log.
func TestRecipes(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed")
	}
	logs, err := filepath.Glob(filepath.Join("..", "..", "eventlog", "event", "testdata", "golden", "logs", "*.jsonl"))
	if err != nil || len(logs) == 0 {
		t.Fatal("no golden logs", err)
	}
	found := recipe.FindAllStringSubmatch(document(t, "log-format.md"), -1)
	if len(found) < 5 {
		t.Fatalf("only %d recipes", len(found))
	}
	for _, m := range found {
		command := strings.ReplaceAll(m[1], `\|`, "|")
		printed := false
		for _, log := range logs {
			input, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-c", command)
			cmd.Stdin = strings.NewReader(string(input) + call)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %s: %v\n%s", log, command, err, out)
			}
			printed = printed || len(out) > 0
		}
		if !printed {
			t.Errorf("%s prints nothing of any log", command)
		}
	}
}
