package workspace

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

const (
	maxFailed = 30  // tests that are named
	maxReason = 200 // bytes of what is said of one
)

// testReport is what the lines of a command's output say of tests, as the runners
// of several languages write them.
type testReport struct {
	failed  []string // names, with the reason where one is on the line
	count   [3]int   // failed, passed, skipped, as far as the runner counts them
	counted bool
	more    int // failed ones that are not named
	waits   int // one more than the index of a failed Go test whose reason comes
}

const (
	failed = iota
	passed
	skipped
)

func (t *testReport) fail(name, reason string) {
	name = strings.TrimSpace(name)
	if i := slices.IndexFunc(t.failed, func(f string) bool { return f == name || strings.HasPrefix(f, name+": ") }); i >= 0 {
		return
	}
	if len(t.failed) == maxFailed {
		t.more++
		return
	}
	if reason = strings.TrimSpace(reason); reason != "" {
		name += ": " + cutAt(reason, maxReason)
	}
	t.failed = append(t.failed, name)
}

// line reads one line of output.
func (t *testReport) line(line string) {
	switch bare := strings.TrimSpace(line); {
	case strings.HasPrefix(line, `{"Time":`), strings.HasPrefix(line, `{"Action":`):
		t.goEvent(line)
	case strings.HasPrefix(bare, "--- FAIL: "):
		name, _, _ := strings.Cut(bare[len("--- FAIL: "):], " ")
		t.count[failed]++
		t.fail(name, "")
		t.waits = len(t.failed)
	case strings.HasPrefix(bare, "--- PASS: "):
		t.count[passed]++
	case strings.HasPrefix(bare, "--- SKIP: "):
		t.count[skipped]++
	case t.waits > 0 && strings.HasPrefix(line, "    ") && strings.Contains(bare, ".go:"):
		t.reason(bare)
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
		t.fail(line, "")
	case strings.HasPrefix(line, "FAIL\t"):
		fields := strings.Fields(line)
		if len(fields) > 1 {
			t.fail("package "+fields[1], strings.Join(fields[2:], " "))
		}
	case strings.HasPrefix(line, "FAILED "), strings.HasPrefix(line, "ERROR ") && strings.Contains(line, ".py"):
		_, rest, _ := strings.Cut(line, " ")
		name, reason, _ := strings.Cut(rest, " - ")
		t.fail(name, reason)
	default:
		t.otherRunners(line, bare)
	}
}

// reason adds the first line that a failed Go test logged.
func (t *testReport) reason(line string) {
	if i := t.waits - 1; i < len(t.failed) && !strings.Contains(t.failed[i], ": ") {
		t.failed[i] += ": " + cutAt(line, maxReason)
	}
	t.waits = 0
}

func (t *testReport) otherRunners(line, bare string) {
	switch {
	case strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... FAILED"):
		t.fail(strings.TrimSuffix(line[len("test "):], " ... FAILED"), "")
	case strings.HasPrefix(line, "test result: "):
		t.totals(line)
	case strings.HasPrefix(line, "not ok "):
		t.fail(strings.TrimPrefix(line, "not ok "), "")
	case strings.HasPrefix(bare, "● ") && strings.HasPrefix(line, "  "):
		t.fail(strings.TrimPrefix(bare, "● "), "")
	case strings.HasPrefix(bare, "Tests:"):
		t.totals(bare)
	case strings.Contains(bare, "Tests run:") && !strings.Contains(bare, "Time elapsed"): // the sum, not that of one class
		t.maven(bare)
	case strings.HasPrefix(bare, "# pass "), strings.HasPrefix(bare, "# fail "), strings.HasPrefix(bare, "# skipped "):
		if fields := strings.Fields(bare); len(fields) == 3 { // the runner of Node
			t.totals(fields[2] + " " + strings.TrimSuffix(fields[1], "ed") + "ed")
		}
	case strings.HasPrefix(line, "=") && strings.HasSuffix(line, "=") && strings.Contains(line, " in "):
		t.totals(strings.Trim(line, "= "))
	case strings.HasPrefix(line, "[ERROR]   ") && strings.Contains(line, ":"): // Maven's list
		t.fail(line[len("[ERROR]   "):], "")
	}
}

// maven reads counts like "Tests run: 5, Failures: 1, Errors: 0, Skipped: 1".
func (t *testReport) maven(line string) {
	counts := map[string]int{}
	_, line, _ = strings.Cut(line, "Tests ")
	for part := range strings.SplitSeq(line, ",") {
		name, n, _ := strings.Cut(part, ":")
		counts[strings.TrimSpace(name)], _ = strconv.Atoi(strings.TrimSpace(n))
	}
	bad := counts["Failures"] + counts["Errors"]
	t.count[failed] += bad
	t.count[skipped] += counts["Skipped"]
	t.count[passed] += max(0, counts["run"]-bad-counts["Skipped"])
	t.counted = true
}

// totals reads counts like "2 failed, 118 passed".
func (t *testReport) totals(line string) {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return strings.ContainsRune(" ,;.:", r) })
	for i, word := range words {
		if i == 0 {
			continue
		}
		n, _ := strconv.Atoi(words[i-1])
		switch word {
		case "failed", "error", "errors":
			t.count[failed] += n
		case "passed":
			t.count[passed] += n
		case "skipped", "ignored":
			t.count[skipped] += n
		}
	}
	t.counted = true
}

// goEvent reads a line of go test -json.
func (t *testReport) goEvent(line string) {
	var e struct{ Action, Package, Test, Output string }
	if json.Unmarshal([]byte(line), &e) != nil || e.Test == "" {
		return
	}
	switch e.Action {
	case "pass":
		t.count[passed]++
	case "skip":
		t.count[skipped]++
	case "fail":
		t.count[failed]++
		t.fail(e.Package+" "+e.Test, "")
	}
}

// summary is what is known of the tests, failed ones first. It is empty if nothing is.
func (t *testReport) summary() string {
	if len(t.failed) == 0 && t.count == [3]int{} {
		return ""
	}
	n := max(t.count[failed], min(len(t.failed)+t.more, 1))
	text := fmt.Sprintf("[tests: %d failed, %d passed, %d skipped, as far as the output counts them]\n", n, t.count[passed], t.count[skipped])
	for _, name := range t.failed {
		text += "[failed: " + shown(name) + "]\n"
	}
	if t.more > 0 {
		text += fmt.Sprintf("[and %d more failed]\n", t.more)
	}
	return text
}

// reports are places in which build tools leave results as JUnit XML.
var reports = []string{
	"*.xml", "test-results/*.xml", "reports/*.xml", "target/surefire-reports/*.xml", "build/test-results/*/*.xml",
	"*/target/surefire-reports/*.xml", "*/build/test-results/*/*.xml",
}

const (
	maxReports = 200
	maxReport  = 8 << 20 // bytes
)

// junit reads the reports that a command wrote. Their names of failed tests come
// first where the output named none.
func (w *workspace) junit(r *recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh []string
	for _, glob := range reports {
		names, _ := fs.Glob(w.root.FS(), glob)
		for _, name := range names {
			if info, err := w.root.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() < maxReport && !info.ModTime().Before(r.began) {
				fresh = append(fresh, name)
			}
		}
	}
	for _, name := range fresh[:min(len(fresh), maxReports)] {
		if f, _, err := w.openFile(name); err == nil {
			r.tests.xml(io.LimitReader(f, maxReport))
			_ = f.Close()
		}
	}
}

// xml reads one report.
func (t *testReport) xml(in io.Reader) {
	d := xml.NewDecoder(in)
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	count, name, bad := !t.counted, "", false
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "testcase":
				name, bad = strings.TrimSpace(attribute(e, "classname")+" "+attribute(e, "name")), false
			case "failure", "error":
				if name != "" && !bad {
					bad = true
					t.fail(name, attribute(e, "message"))
					t.add(failed, count)
				}
			case "skipped":
				t.add(skipped, count)
				bad = true
			}
		case xml.EndElement:
			if e.Name.Local == "testcase" && !bad {
				t.add(passed, count)
			}
		}
	}
}

func (t *testReport) add(which int, count bool) {
	if count {
		t.count[which]++
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
