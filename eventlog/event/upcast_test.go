package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// tested shows the pattern of upcast.go with a shape that exists for this test
// only. Version 1 was {"text"}, version 2
// {"message"}, version 3 is {"message","language"}.
type tested struct {
	mark
	Message  string `json:"message"`
	Language string `json:"language"`
}

func (*tested) Type() string { return "test.shape" }

func register(t *testing.T) {
	t.Helper()
	registry["test.shape"] = of[tested](3)
	upcasters["test.shape"] = map[int]func(json.RawMessage) (json.RawMessage, error){
		1: func(data json.RawMessage) (json.RawMessage, error) {
			var old struct {
				Text string `json:"text"`
			}
			if err := json.Unmarshal(data, &old); err != nil {
				return nil, err
			}
			return json.Marshal(map[string]string{"message": old.Text})
		},
		2: func(data json.RawMessage) (json.RawMessage, error) {
			var old map[string]any
			if err := json.Unmarshal(data, &old); err != nil {
				return nil, err
			}
			old["language"] = "en"
			old["zeal"] = 1 // moves the mark away from the end, as any new order of fields may
			return json.Marshal(old)
		},
	}
	t.Cleanup(func() { delete(registry, "test.shape"); delete(upcasters, "test.shape") })
}

func TestUpcast(t *testing.T) {
	register(t)
	for v, data := range map[int]string{
		1: `{"text":"hello"%s}`, 2: `{"message":"hello"%s}`, 3: `{"message":"hello","language":"en"%s}`,
	} {
		for _, redacted := range []bool{false, true} {
			in := fmt.Appendf(nil, data, "")
			if redacted {
				in = fmt.Appendf(nil, data, `,"redacted":true`)
			}
			before := bytes.Clone(in)
			b, got, err := DecodeBody("test.shape", v, in)
			if err != nil || *b.(*tested) != (tested{Message: "hello", Language: "en"}) {
				t.Errorf("version %d became %+v, %v", v, b, err)
			}
			if got != redacted {
				t.Errorf("version %d: redacted %v, want %v", v, got, redacted)
			}
			if !bytes.Equal(in, before) {
				t.Errorf("version %d: the stored data was changed", v)
			}
		}
	}
	if b := New("test.shape"); Version(b) != 3 {
		t.Errorf("it would be written as version %d", Version(b))
	}
}

func TestUpcastErrors(t *testing.T) {
	register(t)
	if _, _, err := DecodeBody("test.shape", 4, []byte(`{}`)); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v", err)
	}
	if _, _, err := DecodeBody("test.shape", 1, []byte(`{"text":7}`)); err == nil || !strings.Contains(err.Error(), "test.shape: from version 1") {
		t.Errorf("got %v", err)
	}
	delete(upcasters["test.shape"], 2)
	if _, _, err := DecodeBody("test.shape", 1, []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "no way from version 2 to 3") {
		t.Errorf("got %v", err)
	}
}

// Every version between the first and the current one has its way.
func TestUpcastersAreComplete(t *testing.T) {
	for kind, e := range registry {
		for v := 1; v < e.version; v++ {
			if upcasters[kind][v] == nil {
				t.Errorf("%s: no way from version %d", kind, v)
			}
		}
	}
	for kind := range upcasters {
		if _, ok := registry[kind]; !ok {
			t.Errorf("upcasters of %s, which is no type", kind)
		}
	}
}
