package engine

import (
	"reflect"
	"testing"
	"time"

	"agent/eventlog/event"
	"agent/projections"
)

// TestImageIsAwaited: a registry that is down for a moment is nobody's business, and an image that does not come is
// a person's.
func TestImageIsAwaited(t *testing.T) {
	began := time.Date(2026, 11, 29, 5, 50, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		known *projections.MissingImage
		after time.Duration
		want  *event.ImageMissing
	}{
		"first":          {nil, 0, &event.ImageMissing{Message: "none"}},
		"again, soon":    {&projections.MissingImage{Since: began}, 10*time.Minute - time.Second, nil},
		"again, lasting": {&projections.MissingImage{Since: began}, 10 * time.Minute, &event.ImageMissing{Message: "none", Lasting: true}},
	} {
		if got := imageMissing(c.known, began.Add(c.after), "none"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
