package tell

import (
	"testing"

	"agent/projections"
)

func TestClaims(t *testing.T) {
	for text, want := range map[string]bool{
		"All tests pass now.": true, "I ran the tests and they are green.": true, "The build succeeds.": true, "テストはすべて成功しました。": true,
		"It is fixed, and the whole test suite passed!": true, "This passes all checks.": true,
		"I could not run the tests, so whether they pass is unknown.": false, "Two tests do not pass.": false, "テストは実行できません。": false,
		"I pass the value on.": false, "See tests/pass.go. It is fine.": false, "": false,
	} {
		if got := claimsTests(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	fact := func(subject, code string, writes bool) projections.Fact {
		return projections.Fact{Subject: subject, ExitCode: code, OK: code == "" || code == "0", Writes: writes}
	}
	for name, c := range map[string]struct {
		facts []projections.Fact
		want  bool
	}{
		"nothing":                  {nil, false},
		"a test":                   {[]projections.Fact{fact("a.go", "", true), fact("go test ./...", "0", false)}, true},
		"a test before the change": {[]projections.Fact{fact("go test ./...", "0", false), fact("a.go", "", true)}, false},
		"a test that failed last":  {[]projections.Fact{fact("npm test", "0", false), fact("npm test", "1", false)}, false},
		"a test in a shell":        {[]projections.Fact{fact("sh -c pip install pytest && pytest", "0", false)}, true},
		"a file that is there":     {[]projections.Fact{fact("test -f a.go", "0", false)}, false},
		"a tool is fetched":        {[]projections.Fact{fact("pip install pytest", "0", false), fact("bash -c npm install vitest", "0", false)}, false},
		"another command":          {[]projections.Fact{fact("cat test.txt", "0", false), fact("ls", "0", false)}, false},
	} {
		s := projections.NewState()
		s.Work.Facts = c.facts
		if got := testsShown(s); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
