package github

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"agent/forge"
)

const signatureHeader = "X-Hub-Signature-256"

// hook reads webhook deliveries
// (https://docs.github.com/en/webhooks/webhook-events-and-payloads).
var hook = &forge.Hook{Headers: []string{signatureHeader}, Signed: isSigned, Item: hookItem, Setup: setupHook}

// isSigned compares the HMAC of the body
// (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries).
func isSigned(header http.Header, body []byte, secret string) bool {
	got, err := hex.DecodeString(strings.TrimPrefix(header.Get(signatureHeader), "sha256="))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal(mac.Sum(nil), got) && err == nil
}

type hookLabels []struct {
	Name string `json:"name"`
}

func (l hookLabels) names() []string {
	if l == nil {
		return nil
	}
	names := []string{}
	for _, label := range l {
		names = append(names, label.Name)
	}
	return names
}

func hookItem(body []byte) (item forge.HookItem, ok bool) {
	if form, err := url.ParseQuery(string(body)); err == nil && form.Has("payload") { // the other content type that a hook can have
		body = []byte(form.Get("payload"))
	}
	var d struct {
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
		Issue *struct {
			Number int             `json:"number"`
			Pull   json.RawMessage `json:"pull_request"`
			Labels hookLabels      `json:"labels"`
		} `json:"issue"`
		Pull *struct {
			Number int        `json:"number"`
			Labels hookLabels `json:"labels"`
		} `json:"pull_request"`
		Comment json.RawMessage `json:"comment"`
	}
	if json.Unmarshal(body, &d) != nil || !validProject(d.Repository.FullName) {
		return item, false
	}
	item.Project, item.Comment = d.Repository.FullName, len(d.Comment) > 0
	switch {
	case d.Pull != nil:
		item.Kind, item.Number, item.Labels = forge.GitHubPullRequest, d.Pull.Number, d.Pull.Labels.names()
	case d.Issue != nil:
		item.Kind, item.Number, item.Labels = forge.GitHubIssue, d.Issue.Number, d.Issue.Labels.names()
		if len(d.Issue.Pull) > 0 && string(d.Issue.Pull) != "null" {
			item.Kind = forge.GitHubPullRequest
		}
	}
	return item, item.Number > 0
}

func setupHook(project string) string {
	return "gh api repos/" + project + `/hooks -f name=web -f "config[url]=$HOOK_URL" -f "config[secret]=$WEBHOOK_SECRET" -f "config[content_type]=json"` +
		` -f "events[]=issues" -f "events[]=issue_comment" -f "events[]=pull_request" -f "events[]=pull_request_review"`
}
