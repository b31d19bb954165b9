package viewer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"agent/eventlog/event"
	"agent/internal/i18n"
	"agent/projections"
)

var (
	// ofTheLog is a value in the golden events: in a sentence it is data.
	ofTheLog = regexp.MustCompile(`<[A-Za-z0-9_.]+> & 例|\b[0-9a-f]{10,}\b|[a-z.]+\.[A-Z][A-Za-z.]+|head of|"a"|\[… \d+ bytes omitted …\]|<[a-z.]+$`)
	latin    = regexp.MustCompile(`[A-Za-z]{2,}`)
	neutral  = map[string]bool{"HTTP": true, "USD": true, "ms": true, "patch": true, "change": true} // units, and the name of a file
)

// Every type of event says in both languages what it means, with all its fields and with none of
// them, and names neither its type nor, in Japanese, anything in English.
func TestEveryTypeHasASentence(t *testing.T) {
	for _, kind := range event.Types() {
		version := event.Version(event.New(kind))
		data, err := os.ReadFile(filepath.Join("..", "..", "eventlog", "event", "testdata", "golden", fmt.Sprintf("v%d", version), kind+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"whole": data, "without errors": without(t, data), "empty": []byte("{}")} {
			body, _, err := event.DecodeBody(kind, version, data)
			if err != nil {
				t.Fatal(kind, err)
			}
			for _, lang := range []i18n.Lang{i18n.En, i18n.Ja} {
				said := Sentence(event.Event{Body: body}, lang)
				if strings.Contains(ofTheLog.ReplaceAllString(said, ""), kind) || said == "" && name != "empty" {
					t.Errorf("%s, %s, %s: %q", kind, name, lang, said)
				}
				if lang == i18n.Ja {
					japanese(t, kind+", "+name, said)
				}
			}
		}
	}
	japanese(t, "unknown", strings.TrimSuffix(Sentence(event.Event{Body: &event.Unknown{Name: "brand.new", Data: []byte(`{}`)}}, i18n.Ja), "{}"))
}

// without takes out of an event what says that something did not work.
// The HTTP status of a failed call is said once.
func TestStatusIsSaidOnce(t *testing.T) {
	for want, b := range map[string]*event.LLMFailed{
		"transient (HTTP 503): later":                 {Kind: "transient", Status: 503, Message: "later"},
		"transient: HTTP 502 Bad Gateway: a web page": {Kind: "transient", Status: 502, Message: "HTTP 502 Bad Gateway: a web page"},
	} {
		ev := event.Event{Body: b}
		if got := Sentence(ev, i18n.En); got != want || strings.Count(projections.Describe(ev), "HTTP") != 1 {
			t.Errorf("%q, %q, want %q", got, projections.Describe(ev), want)
		}
	}
}

func without(t *testing.T, data []byte) []byte {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"error", "simulated", "unfinished", "fallback", "override_reason", "skipped", "from", "live", "tool"} {
		if _, ok := fields[name]; ok && len(fields) > 1 {
			delete(fields, name)
		}
	}
	less, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return less
}

func japanese(t *testing.T, what, said string) {
	ours := ofTheLog.ReplaceAllString(said, "")
	for _, word := range latin.FindAllString(ours, -1) {
		if !neutral[word] {
			t.Errorf("%s: %q in %q", what, word, ours)
		}
	}
	if data := ours != said; !data && said != "" && !strings.ContainsFunc(said, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) }) &&
		latin.MatchString(said) {
		t.Errorf("%s: %q", what, said)
	}
}

// The words of the log's vocabularies are in the table.
func TestVocabularies(t *testing.T) {
	for prefix, words := range map[string]string{
		"failure.": "transient rate_limited quota auth not_found tools_refused context_overflow malformed_call filtered empty truncated timeout invalid interrupted " + // llm.Kind
			"unknown_tool refused not_started died bad_arguments not_offered too_large too_many " + // mcp.ErrorKind and ours
			"hidden certificate forbidden moved conflict gone transferred other", // forge.ErrorKind and changes
		"phase.":   "understanding information assumption planning execution reflection revision replanning verification work summary compaction",
		"message.": "system task comments edited correction inherited phase action not_called new_files restored rules summary",
		"purpose.": "start progress checklist completed failed paused stopped resumed awaiting inherited fetch clarification round",
		"trigger.": "reflection comments clarification_request goal_revision task_redecomposition action_regeneration partial_replan full_replan plan_revision retry none",
		"class.":   "new edited own bot system internal untrusted approval command older deleted",
		"kind.":    "model tool comment labels change files message phase action plan input process interruption pause await resume request limit end other",
		"state.":   "running interrupted paused awaiting completed stopped failed damaged partial",
	} {
		for word := range strings.FieldsSeq(words) {
			if !i18n.Has(i18n.ID(prefix + word)) {
				t.Errorf("no word for %s%s", prefix, word)
			}
		}
	}
}
