package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"math"
	"strings"
	"testing"
	"time"

	"agent/internal/i18n"
	"agent/llm"
)

// File systems without a bound for inodes say something impossible: nobody wants to read it.
func TestRoom(t *testing.T) {
	t.Parallel()
	d := &doctor{report: Report{Lang: i18n.En}}
	for _, c := range []struct {
		bytes, inodes uint64
		want          string
	}{
		{100 << 20, 5000, "/x: 100 MiB and 5000 inodes free"}, {100 << 30, math.MaxUint64, "/x: 100 GiB free"}, {9 << 30, 1 << 48, "/x: 9216 MiB free"},
		{0, 0, "/x: 0 MiB and 0 inodes free"}, {1 << 40, 999_999, "/x: 1024 GiB and 999999 inodes free"},
	} {
		if got := d.room("/x", c.bytes, c.inodes); got != c.want {
			t.Errorf("%d bytes, %d inodes: %q, want %q", c.bytes, c.inodes, got, c.want)
		}
	}
}

// Every check has a name that people understand, in both languages, and says which
// project, forge or server it is about.
func TestNames(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		"config": {"configuration", "設定"}, "file mode": {"configuration file", "設定ファイル"}, "tool server docs": {"tool server docs", "ツールサーバー docs"},
		"conversation": {"conversation with the model", "モデルとの会話"}, // it was called a forge
		"acme/widgets": {"project acme/widgets", "プロジェクト acme/widgets"}, "github.com": {"forge github.com", "フォージ github.com"}, "127.0.0.1:80": {"forge 127.0.0.1:80", "フォージ 127.0.0.1:80"},
	} {
		if en, ja := i18n.Check(i18n.En, id), i18n.Check(i18n.Ja, id); en != want[0] || ja != want[1] {
			t.Errorf("%s is called %q and %q", id, en, ja)
		}
	}
}

// What to do about an answer of a model server fits the answer: to check the address of a
// server that asks for money helps nobody.
func TestAdviceFits(t *testing.T) {
	t.Parallel()
	d := &doctor{report: Report{Lang: i18n.En}}
	driver := llm.Driver{Hints: llm.Hints{Unreachable: "doctor.todo.model.openai"}}
	for kind, want := range map[llm.Kind]string{llm.Quota: "top up", llm.RateLimited: "wait", llm.Auth: "OPENAI_API_KEY", llm.Transient: "the network", llm.Filtered: "another model"} {
		if got := d.todoModel(driver, &llm.Error{Kind: kind}); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// A certificate that forges do not accept any more, or soon, is said before hooks stay away.
func TestExpiry(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for left, want := range map[time.Duration]Result{-time.Minute: Failed, time.Hour: Warning, 60 * 24 * time.Hour: ""} {
		d := &doctor{report: Report{Lang: i18n.En}, Options: Options{Show: func(Finding) {}}}
		d.checkExpiry(tls.Certificate{Leaf: &x509.Certificate{NotAfter: now.Add(left)}}, now)
		got := Result("")
		if len(d.report.Findings) > 0 {
			got = d.report.Findings[0].Result
		}
		if got != want {
			t.Errorf("%v left: %q, want %q", left, got, want)
		}
	}
}
