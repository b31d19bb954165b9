package event

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxText is the largest payload in bytes that stays in a line; larger ones go to blobs.
const MaxText = 256 << 10

// MaxResult is the largest tool result in bytes that a model sees; of larger
// ones it sees the head and the tail, and the whole is kept in a blob.
const MaxResult = 48 << 10

// Text is a string that may be too large for a line. Stored as a JSON string,
// or as {"blob","size","head","tail"} when the whole is in a blob.
type Text struct {
	Inline string // the whole, or the head if Blob is set
	Blob   string // hex SHA-256 of the whole
	Size   int64  // bytes of the whole, if Blob is set
	Tail   string
	Whole  string // of a text that is always apart, in memory only: see [Fetch]
}

// T makes a Text of s.
func T(s string) Text { return Text{Inline: s} }

// View is what a model or a reader sees: the whole, or head and tail with a note between them.
func (t Text) View() string {
	switch {
	case t.Blob == "":
		return t.Inline
	case t.Whole != "":
		return t.Whole
	case t.Missing():
		return fmt.Sprintf("[a text of %d bytes that was forgotten]", t.Size)
	}
	return fmt.Sprintf("%s\n[… %d bytes omitted …]\n%s", t.Inline, t.Size-int64(len(t.Inline)+len(t.Tail)), t.Tail)
}

// Spilled reports whether the whole is in a blob.
func (t Text) Spilled() bool { return t.Blob != "" }

// Missing reports whether a text that is always apart could not be fetched.
func (t Text) Missing() bool {
	return t.Blob != "" && t.Whole == "" && t.Inline == "" && t.Tail == ""
}

// IsZero lets omitzero drop empty texts.
func (t Text) IsZero() bool { return t == Text{} }

type spilled struct {
	Blob string `json:"blob"`
	Size int64  `json:"size"`
	Head string `json:"head"`
	Tail string `json:"tail"`
}

// MarshalJSON writes the stored form.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.Blob == "" {
		return marshal(t.Inline)
	}
	return marshal(spilled{t.Blob, t.Size, t.Inline, t.Tail})
}

// UnmarshalJSON reads the stored form.
func (t *Text) UnmarshalJSON(data []byte) error {
	if len(data) > 1 && data[0] == '"' {
		inline, err := unquote(data)
		*t = T(inline)
		return err
	}
	var s spilled
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*t = Text{Inline: s.Head, Blob: s.Blob, Size: s.Size, Tail: s.Tail}
	return nil
}

// marshal is json.Marshal without HTML escaping, so that code stays readable in logs.
func marshal(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimRight(b.String(), "\n")), nil
}

// payload is a text field of a body and the size from which it goes to a blob.
type payload struct {
	text *Text
	max  int
	view int // bytes of head and tail that stay
	// apart is true for texts that are never in a line, so that they can be
	// forgotten: those that may hold words of an earlier context.
	apart bool
}

// payloads is implemented by bodies with texts that can be large.
type payloads interface{ payloads() []payload }

func (p payload) spill(put func([]byte) (string, error)) error {
	whole := p.text.Inline
	hash, err := put([]byte(whole))
	if err != nil {
		return err
	}
	*p.text = Text{Blob: hash, Size: int64(len(whole)), Inline: head(whole, p.view*2/3), Tail: tail(whole, p.view/3)}
	if p.apart {
		p.text.Whole = whole
	}
	return nil
}

// Fetch brings the texts of b that are always apart into memory. One that get
// does not have is left out, see [Text.Missing].
func Fetch(b Body, get func(hash string) ([]byte, error)) {
	p, ok := b.(payloads)
	if !ok {
		return
	}
	for _, t := range p.payloads() {
		if !t.apart || t.text.Blob == "" {
			continue
		}
		if data, err := get(t.text.Blob); err == nil {
			t.text.Whole = string(data)
		}
	}
}

// Unspill brings the texts of b that are in blobs back into it, so that another log can
// hold it. One that get does not have stays as it is.
func Unspill(b Body, get func(hash string) ([]byte, error)) {
	p, ok := b.(payloads)
	if !ok {
		return
	}
	for _, t := range p.payloads() {
		if t.text.Blob == "" {
			continue
		}
		if data, err := get(t.text.Blob); err == nil {
			*t.text = T(string(data))
		}
	}
}

// Shorten gives the head and the tail of a text that is longer than most bytes.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	t := Text{Blob: "-", Size: int64(len(s)), Inline: head(s, most*2/3), Tail: tail(s, most/3)}
	return t.View()
}

func head(s string, n int) string {
	for n = min(n, len(s)); n > 0 && n < len(s) && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}

func tail(s string, n int) string {
	i := max(len(s)-n, 0)
	for ; i < len(s) && !utf8.RuneStart(s[i]); i++ {
	}
	return s[i:]
}

// lineBudget leaves room for the envelope of a line.
const lineBudget = 1<<20 - 1024

// Spill moves the texts of b that are over their limit to blobs through put,
// then the largest ones left until the encoded body fits a line.
func Spill(b Body, put func([]byte) (string, error)) error {
	_, err := SpillEncoded(b, nil, put)
	return err
}

// SpillEncoded is Spill for a body whose encoding is known; nil if it is not. It gives the
// encoding of what b is after it, nil if that is not known.
func SpillEncoded(b Body, data []byte, put func([]byte) (string, error)) ([]byte, error) {
	p, ok := b.(payloads)
	if !ok {
		return data, nil
	}
	texts := p.payloads()
	for _, t := range texts {
		if t.text.Blob == "" && len(t.text.Inline) > t.max {
			if err := t.spill(put); err != nil {
				return nil, err
			}
			data = nil
		}
	}
	for {
		if data == nil {
			var err error
			if data, err = Encode(b, false); err != nil {
				return nil, err
			}
		}
		size := len(data) + len(redactedMark) // whether it is marked or not
		if size <= lineBudget {
			return data, nil
		}
		if err := spillLargest(b, texts, put, size); err != nil {
			return nil, err
		}
		data = nil
	}
}

// spillLargest moves the largest text to a blob.
func spillLargest(b Body, texts []payload, put func([]byte) (string, error), size int) error {
	largest := -1
	for i, t := range texts {
		if t.text.Blob == "" && len(t.text.Inline) > 1024 && (largest < 0 || len(t.text.Inline) > len(texts[largest].text.Inline)) {
			largest = i
		}
	}
	if largest < 0 {
		return fmt.Errorf("%s of %d bytes does not fit a line", b.Type(), size)
	}
	texts[largest].view = min(texts[largest].view, 4<<10)
	return texts[largest].spill(put)
}

func plain(t *Text) payload  { return payload{text: t, max: MaxText, view: 16 << 10} }
func result(t *Text) payload { return payload{text: t, max: MaxResult, view: MaxResult} }
func prompt(t *Text) payload { return payload{text: t, max: MaxText, view: 128 << 10} }
func apart(t *Text) payload  { return payload{text: t, apart: true} }

// whole is of use with all of it only: head and tail do not stay.
func whole(t *Text) payload { return payload{text: t, max: MaxText, apart: true} }

// patch is shown whole or not at all.
func patch(t *Text) payload { return payload{text: t, max: MaxResult, view: 1 << 10} }

func (b *TaskFetched) payloads() []payload      { return []payload{prompt(&b.Body)} }
func (b *TaskChanged) payloads() []payload      { return []payload{plain(&b.Body)} }
func (b *ContextInherited) payloads() []payload { return []payload{apart(&b.Summary)} }
func (b *ContextForked) payloads() []payload    { return []payload{whole(&b.Prompt), plain(&b.Say)} }
func (b *LLMFailed) payloads() []payload        { return []payload{plain(&b.Partial)} }
func (b *ToolRequested) payloads() []payload    { return []payload{plain(&b.Args)} }
func (b *CommentRequested) payloads() []payload { return []payload{plain(&b.Body)} }
func (b *ChangeRequested) payloads() []payload  { return []payload{plain(&b.Body)} }
func (b *ChangeOpened) payloads() []payload     { return []payload{patch(&b.Patch)} }
func (b *ChangeFailed) payloads() []payload     { return []payload{patch(&b.Patch)} }

func (b *ProjectRead) payloads() []payload {
	all := []payload{plain(&b.Files)}
	for i := range b.Rules {
		all = append(all, plain(&b.Rules[i].Text))
	}
	for i := range b.Nested {
		all = append(all, plain(&b.Nested[i].Text))
	}
	return append(all, plain(&b.Map))
}

func (b *MessageAdded) payloads() []payload {
	if b.Purpose == InheritedMessage {
		return []payload{apart(&b.Content)}
	}
	return []payload{prompt(&b.Content)}
}

func (b *ToolReplied) payloads() []payload {
	if len(b.Sources) > 0 {
		return []payload{apart(&b.Content)}
	}
	return []payload{result(&b.Content)}
}

func (b *SummaryAdded) payloads() []payload {
	if len(b.Sources) > 0 {
		return []payload{apart(&b.Text)}
	}
	return []payload{plain(&b.Text)}
}

func (b *LLMReplied) payloads() []payload {
	if len(b.Sources) > 0 {
		return []payload{apart(&b.Text), apart(&b.Reasoning), apart(&b.Raw), apart(&b.Opaque)}
	}
	all := []payload{plain(&b.Text), plain(&b.Reasoning), whole(&b.Opaque), {text: &b.Raw, max: MaxText, view: 1 << 10}}
	for i := range b.Calls {
		all = append(all, plain(&b.Calls[i].Args))
	}
	return all
}

func (b *CommentsFetched) payloads() []payload {
	var all []payload
	for i := range b.Comments {
		all = append(all, plain(&b.Comments[i].Body))
	}
	return all
}

// Lacks reports whether a text of b that is always apart is not there any more.
func Lacks(b Body) bool {
	p, ok := b.(payloads)
	if !ok {
		return false
	}
	for _, t := range p.payloads() {
		if t.apart && t.text.Missing() {
			return true
		}
	}
	return false
}

// Blobs lists the hashes of the blobs that a body names.
func Blobs(b Body) []string {
	p, ok := b.(payloads)
	if !ok {
		return nil
	}
	var hashes []string
	for _, t := range p.payloads() {
		if t.text.Blob != "" {
			hashes = append(hashes, t.text.Blob)
		}
	}
	return hashes
}
