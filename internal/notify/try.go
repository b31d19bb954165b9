package notify

import (
	"context"
	"iter"
	"strconv"
	"time"

	"agent/internal/config"
	"agent/internal/i18n"
	"agent/internal/redact"
	"agent/internal/sanitize"
)

// Tried is the result of a message to try a receiver, as `agent notify test --json` prints it.
type Tried struct {
	Receiver string `json:"receiver"`
	Error    string `json:"error,omitempty"`
}

// Line is the result for people.
func (t Tried) Line(lang i18n.Lang) string {
	if t.Error != "" {
		return "✗ " + t.Receiver + ": " + t.Error
	}
	return "✓ " + i18n.Text(lang, "notify.sent", t.Receiver)
}

// Try sends a message that concerns no task to each receiver, once.
func Try(ctx context.Context, cfg *config.Config, lang i18n.Lang, version string) iter.Seq[Tried] {
	secrets := redact.New(cfg.Secrets())
	return func(yield func(Tried) bool) {
		for i, c := range cfg.Notify {
			r, now := newReceiver(i, c, version), time.Now().UTC()
			m := Message{ID: "test:" + strconv.FormatInt(now.UnixNano(), 36), Event: "test", Time: now, lang: lang,
				Title: i18n.Text(lang, "notify.test.title"), Reason: i18n.Text(lang, "notify.test.reason")}
			t := Tried{Receiver: r.name}
			if err := r.attempt(ctx, m.complete().with(r.template)); err != nil {
				text, _ := secrets.String(err.Error())
				t.Error = sanitize.Line(text, 500)
			}
			if !yield(t) {
				return
			}
		}
	}
}
