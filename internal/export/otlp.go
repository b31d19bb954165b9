package export

import (
	"io"
)

// batchSize is how many spans a line of a file and a request hold.
const batchSize = 512

// otlp writes the spans as the file exporter of OpenTelemetry does: one request a line.
func (s Source) otlp(w io.Writer) error {
	var failed error
	err := s.batches(func(data []byte, _ int) bool {
		_, failed = w.Write(append(data, '\n'))
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// batches makes the spans of the whole log, as requests. It goes on while send is true.
func (s Source) batches(send func(data []byte, spans int) bool) (damage error) {
	s.brief = !s.Content
	var spans []Span
	going := true
	flush := func() {
		if len(spans) == 0 || !going {
			return
		}
		data, err := s.marshal(batch(s.Version, spans))
		if err != nil {
			damage, going = err, false
			return
		}
		going = send(data, len(spans))
		spans = spans[:0]
	}
	over := false
	f := newSpans(s, func(span Span) {
		over = over || span.Parent == ""
		if spans = append(spans, span); len(spans) == batchSize {
			flush()
		}
	})
	for ev := range s.events(&damage) {
		if f.add(ev); !going {
			return damage
		}
	}
	if !over {
		f.rest()
	}
	flush()
	return damage
}
