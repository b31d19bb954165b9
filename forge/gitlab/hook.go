package gitlab

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"agent/forge"
)

const (
	tokenHeader     = "X-Gitlab-Token"
	signatureHeader = "Webhook-Signature"
	signingPrefix   = "whsec_" // of a signing token
)

// hook reads webhook deliveries
// (https://docs.gitlab.com/user/project/integrations/webhook_events/).
var hook = &forge.Hook{Headers: []string{signatureHeader, tokenHeader}, Signed: isSigned, Item: hookItem, Setup: setupHook}

// isSigned checks the signature of a hook with a signing token, as Standard Webhooks have it,
// or else the secret token that the delivery carries
// (https://docs.gitlab.com/user/project/integrations/webhooks/).
func isSigned(header http.Header, body []byte, secret string) bool {
	if header.Get(signatureHeader) == "" {
		got, want := sha256.Sum256([]byte(header.Get(tokenHeader))), sha256.Sum256([]byte(secret))
		return hmac.Equal(got[:], want[:])
	}
	key := []byte(secret)
	if text, ok := strings.CutPrefix(secret, signingPrefix); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(text); err != nil {
			return false
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("Webhook-Id") + "." + header.Get("Webhook-Timestamp") + "."))
	mac.Write(body)
	want, found := mac.Sum(nil), false
	for one := range strings.FieldsSeq(header.Get(signatureHeader)) {
		text, ok := strings.CutPrefix(one, "v1,")
		got, err := base64.StdEncoding.DecodeString(text)
		found = hmac.Equal(got, want) && ok && err == nil || found
	}
	return found
}

// hookLabels is nil if the delivery does not name labels.
type hookLabels []struct {
	Title string `json:"title"`
}

type hookedItem struct {
	IID    int        `json:"iid"`
	Labels hookLabels `json:"labels"`
}

func hookItem(body []byte) (item forge.HookItem, ok bool) {
	var d struct {
		Kind    string `json:"object_kind"`
		Project struct {
			Path string `json:"path_with_namespace"`
		} `json:"project"`
		Attributes hookedItem  `json:"object_attributes"`
		Labels     hookLabels  `json:"labels"`
		Issue      *hookedItem `json:"issue"`
		Merge      *hookedItem `json:"merge_request"` // of a note, an emoji, a pipeline
	}
	if json.Unmarshal(body, &d) != nil || d.Project.Path == "" {
		return item, false
	}
	about := d.Attributes
	about.Labels = d.Labels
	switch {
	case d.Merge != nil:
		item.Kind, about = forge.GitLabMergeRequest, *d.Merge
	case d.Issue != nil:
		item.Kind, about = forge.GitLabIssue, *d.Issue
	case d.Kind == "merge_request":
		item.Kind = forge.GitLabMergeRequest
	case d.Kind == "issue", d.Kind == "work_item":
		item.Kind = forge.GitLabIssue
	default:
		return item, false
	}
	item.Project, item.Number, item.Comment = d.Project.Path, about.IID, d.Kind == "note"
	if about.Labels != nil {
		item.Labels = []string{}
	}
	for _, l := range about.Labels {
		item.Labels = append(item.Labels, l.Title)
	}
	return item, item.Number > 0
}

func setupHook(project string) string {
	return "glab api projects/" + url.PathEscape(project) + `/hooks -f "url=$HOOK_URL" -f "token=$WEBHOOK_SECRET" -f issues_events=true -f confidential_issues_events=true` +
		" -f merge_requests_events=true -f note_events=true -f confidential_note_events=true -f push_events=false"
}
