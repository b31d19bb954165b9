package github

import (
	"sync"
	"testing"

	"agent/forge/forgetest"
	"agent/forge/forgetest/openapi"
)

var official = sync.OnceValues(func() (*openapi.Description, error) {
	return openapi.Load("../forgetest/testdata/github-openapi.json")
})

// checkOfficially holds every request of the client and every answer to it
// against the official description.
func checkOfficially(t *testing.T, s *forgetest.Server) {
	t.Helper()
	d, err := official()
	if err != nil {
		t.Fatal(err)
	}
	s.Watch(func(e forgetest.Exchange) {
		if err := d.Request(e); err != nil {
			t.Error(err)
		}
		if err := d.Response(e); err != nil {
			t.Error(err)
		}
	})
}
