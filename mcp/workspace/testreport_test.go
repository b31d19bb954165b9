package workspace_test

import (
	"strings"
	"testing"
)

// outputs are what test runners write, shortened.
var outputs = map[string]struct{ text, want string }{
	"go test": {`--- FAIL: TestPush (0.01s)
    queue_test.go:14: got 1, want 2
    --- FAIL: TestPush/full (0.00s)
        queue_test.go:20: no error
--- SKIP: TestSlow (0.00s)
--- PASS: TestPop (0.00s)
FAIL
FAIL	example.com/queue	0.012s
ok  	example.com/store	0.004s
?   	example.com/cmd	[no test files]
FAIL
`, "[tests: 2 failed, 1 passed, 1 skipped, as far as the output counts them]\n[failed: TestPush: queue_test.go:14: got 1, want 2]\n[failed: TestPush/full: queue_test.go:20: no error]\n[failed: package example.com/queue: 0.012s]\n"},
	"go test, a panic": {`panic: runtime error: index out of range [3] with length 3 [recovered]

goroutine 7 [running]:
testing.tRunner.func1.2({0x1, 0x2})
FAIL	example.com/queue	0.012s
`, "[failed: panic: runtime error: index out of range [3] with length 3 [recovered]]\n[failed: package example.com/queue: 0.012s]\n"},
	"go test, not built": {"# example.com/queue [example.com/queue.test]\n./queue_test.go:9:2: undefined: x\nFAIL\texample.com/queue [build failed]\n", "[failed: package example.com/queue: [build failed]]\n"},
	"go test -json": {`{"Time":"2026-01-02T03:04:05Z","Action":"start","Package":"example.com/q"}
{"Time":"2026-01-02T03:04:05Z","Action":"output","Package":"example.com/q","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Time":"2026-01-02T03:04:05Z","Action":"fail","Package":"example.com/q","Test":"TestA","Elapsed":0}
{"Time":"2026-01-02T03:04:05Z","Action":"pass","Package":"example.com/q","Test":"TestB","Elapsed":0}
{"Time":"2026-01-02T03:04:05Z","Action":"skip","Package":"example.com/q","Test":"TestC","Elapsed":0}
{"Time":"2026-01-02T03:04:05Z","Action":"fail","Package":"example.com/q","Elapsed":0.01}
`, "[tests: 1 failed, 1 passed, 1 skipped, as far as the output counts them]\n[failed: example.com/q TestA]\n"},
	"pytest": {`============================= test session starts ==============================
collected 5 items

tests/test_order.py .F.sE                                                [100%]

=================================== FAILURES ===================================
__________________________________ test_total __________________________________
>       assert total([1]) == 2
E       assert 1 == 2
tests/test_order.py:8: AssertionError
=========================== short test summary info ============================
FAILED tests/test_order.py::test_total - assert 1 == 2
ERROR tests/test_order.py::test_db - ConnectionError: no database
=============== 1 failed, 2 passed, 1 skipped, 1 error in 0.12s ================
`, "[tests: 2 failed, 2 passed, 1 skipped, as far as the output counts them]\n[failed: tests/test_order.py::test_total: assert 1 == 2]\n[failed: tests/test_order.py::test_db: ConnectionError: no database]\n"},
	"pytest, all good": {"============================== 128 passed in 3.21s ==============================\n", "[tests: 0 failed, 128 passed, 0 skipped, as far as the output counts them]\n"},
	"jest": {`FAIL src/table.test.js
  ● sorting › puts numbers in order

    expect(received).toEqual(expected)

  ● sorting › is stable

PASS src/app.test.js

Test Suites: 1 failed, 1 passed, 2 total
Tests:       2 failed, 1 skipped, 7 passed, 10 total
Snapshots:   0 total
Time:        1.2 s
`, "[tests: 2 failed, 7 passed, 1 skipped, as far as the output counts them]\n[failed: sorting › puts numbers in order]\n[failed: sorting › is stable]\n"},
	"node --test": {`TAP version 13
not ok 1 - adds
  ---
  ...
ok 2 - subtracts
1..2
# tests 2
# pass 1
# fail 1
# cancelled 0
# skipped 0
`, "[tests: 1 failed, 1 passed, 0 skipped, as far as the output counts them]\n[failed: 1 - adds]\n"},
	"cargo test": {`running 3 tests
test queue::tests::pop ... ok
test queue::tests::push ... FAILED
test queue::tests::slow ... ignored

failures:

---- queue::tests::push stdout ----
thread 'queue::tests::push' panicked at src/queue.rs:21:9:
assertion ` + "`left == right`" + ` failed

failures:
    queue::tests::push

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
`, "[tests: 1 failed, 1 passed, 1 skipped, as far as the output counts them]\n[failed: queue::tests::push]\n"},
	"cargo, two binaries": {"test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n", "[tests: 0 failed, 7 passed, 1 skipped, as far as the output counts them]\n"},
	"maven":               {"[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s - in shop.CartTest\n[ERROR]   ShopTest.sum:33 expected: <3> but was: <2>\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n", "[tests: 2 failed, 2 passed, 1 skipped, as far as the output counts them]\n[failed: ShopTest.sum:33 expected: <3> but was: <2>]\n"},
	"no tests":            {"hello world\nFAILURE is a word, and 3 failed attempts are none\n", ""},
}

// TestTestReports: failed tests come first, whatever ran them; what is no test is none.
func TestTestReports(t *testing.T) {
	b := open(t)
	for name, c := range outputs {
		for _, colours := range []bool{false, true} {
			text := c.text
			if colours { // as with FORCE_COLOR
				text = strings.NewReplacer("FAIL", "\x1b[31mFAIL\x1b[0m", "passed", "\x1b[32mpassed\x1b[0m").Replace(text)
			}
			b.write("out", text)
			got, _ := b.ran(args{"command": "cat out; exit 1"})
			head, ok := strings.CutPrefix(got, "exit code: 1\n[]\n")
			summary := ""
			for line := range strings.Lines(head) {
				if !strings.HasPrefix(line, "[tests: ") && !strings.HasPrefix(line, "[failed: ") {
					break
				}
				summary += line
			}
			if first, _, _ := strings.Cut(summary, "\n"); !strings.HasPrefix(c.want, "[tests") && strings.HasPrefix(first, "[tests: 1 failed, 0 passed") {
				summary = strings.TrimPrefix(summary, first+"\n") // at least one failed: how many, nobody counted
			}
			if !ok || summary != c.want {
				t.Errorf("%s (colours %v): got\n%s\nwant\n%s", name, colours, summary, c.want)
			}
		}
	}
}

// TestJUnitReports: reports that the command wrote are read, older ones are not.
func TestJUnitReports(t *testing.T) {
	b := open(t)
	const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="s" tests="4" failures="1" errors="1" skipped="1">
<testcase classname="shop.Cart" name="adds"/>
<testcase classname="shop.Cart" name="sums"><failure message="expected 3 &amp; got 2">at Cart.java:3</failure></testcase>
<testcase classname="shop.Cart" name="loads"><error message="no file"/></testcase>
<testcase classname="shop.Cart" name="later"><skipped/></testcase>
</testsuite></testsuites>`
	b.write("report", report)
	b.write("broken", report[:strings.Index(report, "<error")])
	b.write("old.xml", strings.ReplaceAll(report, "sums", "of the last run"))
	b.link("/etc/hostname", "link.xml")
	for _, c := range [][2]string{
		{"sleep 0.05; cp report junit.xml; exit 1", "[tests: 2 failed, 1 passed, 1 skipped, as far as the output counts them]\n[failed: shop.Cart sums: expected 3 & got 2]\n[failed: shop.Cart loads: no file]\n"},
		{"rm junit.xml; mkdir -p target/surefire-reports; cp report target/surefire-reports/TEST-x.xml", "[tests: 2 failed, 1 passed, 1 skipped"},
		{"rm -r target; mkdir test-results; cp broken test-results/a.xml; exit 1", "[failed: shop.Cart sums: expected 3 & got 2]"},
		{"rm -r test-results; sleep 0.05; echo nothing", ""},
		{"cp report junit.xml; echo '2 failed, 5 passed'; echo '====== 2 failed, 5 passed in 1s ======'; exit 1", "[tests: 2 failed, 5 passed, 0 skipped"}, // what the output counts is counted once
	} {
		got, _ := b.call("run_command", args{"command": c[0]})
		if !strings.Contains(got, c[1]) || c[1] == "" && strings.Contains(got, "[tests") || strings.Contains(got, "of the last run") {
			t.Errorf("%s: got\n%s\nwant\n%s", c[0], got, c[1])
		}
	}
}
