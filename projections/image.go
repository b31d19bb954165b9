package projections

import (
	"time"

	"agent/eventlog/event"
)

// MissingImage is a container image that could not be had.
type MissingImage struct {
	Seq     uint64 // of the event that said so last
	Since   time.Time
	Message string
	Lasting bool // long enough that a person has to look
}

func (s *State) imageMissing(e event.Event, b *event.ImageMissing) {
	since := e.Time
	if s.Image != nil {
		since = s.Image.Since
	}
	s.Image = &MissingImage{Seq: e.Seq, Since: since, Message: b.Message, Lasting: b.Lasting}
}
