package export

import (
	"bytes"
	"encoding/json"
	"io"

	"agent/contexts"
	"agent/eventlog"
)

// line is a line of a log without its checksums, which do not hold for a redacted one.
type line struct {
	Seq   uint64          `json:"seq"`
	Time  string          `json:"time"`
	Type  string          `json:"type"`
	V     int             `json:"v"`
	Cause uint64          `json:"cause,omitempty"`
	Data  json.RawMessage `json:"data"`
}

// jsonl writes the log's lines. Texts that lie beside the log stand in their lines.
func (s Source) jsonl(w io.Writer) error {
	for r, err := range s.Store.Records(s.UUID) {
		if contexts.IsTorn(err) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := s.marshal(line{r.Seq, string(r.Time), string(r.Type), r.V, r.Cause, s.whole(r)})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(data, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// whole is the data of a line with its texts from blobs. It keeps the form of the
// log, so that it also works for events of a newer release.
func (s Source) whole(r eventlog.Record) json.RawMessage {
	if !bytes.Contains(r.Data, []byte(`"blob":"`)) {
		return r.Data
	}
	var data any
	d := json.NewDecoder(bytes.NewReader(r.Data))
	d.UseNumber()
	if d.Decode(&data) != nil {
		return r.Data
	}
	out, err := json.Marshal(s.fetched(data))
	if err != nil {
		return r.Data
	}
	return out
}

// fetched puts texts in the place of {"blob", "size", "head", "tail"}. One that cannot
// be read stays as it is.
func (s Source) fetched(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = s.fetched(v[i])
		}
	case map[string]any:
		hash, ok := v["blob"].(string)
		if ok && len(v) == 4 && v["size"] != nil {
			if text, err := s.blob(hash); err == nil {
				return string(text)
			}
		}
		for key := range v {
			v[key] = s.fetched(v[key])
		}
	}
	return v
}
