package github

import (
	"net/http"
	"testing"
	"time"

	"agent/forge"
	"agent/forge/forgetest/suite"
)

func TestConformance(t *testing.T) {
	connect := func(t *testing.T, s *suite.Stage, transport http.RoundTripper, timeout time.Duration) forge.Client {
		c, err := New(Config{APIURL: s.URL, Token: suite.Token, Repositories: []string{s.Project}, Timeout: timeout, Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Run("issue", func(t *testing.T) { suite.Run(t, suite.GitHubIssue, connect) })
	t.Run("pull request", func(t *testing.T) { suite.Run(t, suite.GitHubPullRequest, connect) })
}
