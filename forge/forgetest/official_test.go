package forgetest_test

import (
	"sync"
	"testing"

	"agent/forge/forgetest"
	"agent/forge/forgetest/openapi"
)

var official = sync.OnceValues(func() (*openapi.Description, error) { return openapi.Load("testdata/github-openapi.json") })

// checkAnswers holds every answer of the server against the official description.
func checkAnswers(t *testing.T, s *forgetest.Server) {
	t.Helper()
	d, err := official()
	if err != nil {
		t.Fatal(err)
	}
	s.Watch(func(e forgetest.Exchange) {
		if err := d.Response(e); err != nil {
			t.Error(err)
		}
	})
}
