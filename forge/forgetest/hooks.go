package forgetest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Delivery is what a forge posts to a hook. Of the bodies only what a receiver may need is
// there, in the shapes of the API, as the documentation has them:
// https://docs.github.com/en/webhooks/webhook-events-and-payloads and
// https://docs.gitlab.com/user/project/integrations/webhook_events/.
type Delivery struct {
	Header http.Header
	Body   string
}

// Send posts a delivery and gives the status of the answer.
func (d Delivery) Send(url string) (status int, err error) {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(d.Body))
	if err != nil {
		return 0, err
	}
	request.Header = d.Header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func deliveryOf(body object, header map[string]string) Delivery {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	d := Delivery{Header: http.Header{"Content-Type": {"application/json"}}, Body: string(text)}
	for name, value := range header {
		d.Header.Set(name, value)
	}
	return d
}

// Delivery is what a hook with a secret sends of an event about an issue or pull request:
// "issues", "issue_comment" or "pull_request".
func (s *Server) Delivery(repo string, number int, event, action, secret string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{web: s.base, api: s.base}
	r := s.mustRepository(repo)
	i := r.mustIssue(number)
	body := object{"action": action, "repository": c.repositoryShape(r), "sender": c.userObject(r.owner)}
	if event == "pull_request" {
		body["number"], body["pull_request"] = i.number, c.pullShape(r, i)
	} else {
		body["issue"] = c.issueShape(r, i)
	}
	if event == "issue_comment" && len(i.comments) > 0 {
		body["comment"] = c.commentShape(r, i, i.comments[len(i.comments)-1])
	}
	d := deliveryOf(body, map[string]string{"X-GitHub-Event": event, "X-GitHub-Delivery": fmt.Sprintf("delivery-%d", s.nextID()), "User-Agent": "GitHub-Hookshot/0123456"})
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(d.Body))
	d.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return d
}

// Delivery is what a hook sends of an issue or merge request, or of its latest note. The
// secret is a signing token if it begins with whsec_, else a secret token.
func (i *Item) Delivery(note bool, secret string) Delivery {
	i.g.mu.Lock()
	defer i.g.mu.Unlock()
	kind, event := "issue", "Issue Hook"
	if i.i.merge != nil {
		kind, event = "merge_request", "Merge Request Hook"
	}
	labels := []object{}
	for _, l := range i.i.labels {
		labels = append(labels, object{"id": l.id, "title": l.name, "color": l.color, "project_id": i.p.id, "type": "ProjectLabel"})
	}
	about := object{"id": i.i.id, "iid": i.i.iid, "title": i.i.title, "description": i.i.body, "state": i.i.state, "labels": labels}
	project := object{"id": i.p.id, "path_with_namespace": i.p.path, "web_url": i.g.base + "/" + i.p.path, "default_branch": "main"}
	body := object{"object_kind": kind, "event_type": kind, "user": object{"username": "someone"}, "project": project, "object_attributes": about, "labels": labels, "changes": object{}}
	if note {
		event = "Note Hook"
		body = object{"object_kind": "note", "event_type": "note", "project": project, kind: about, "object_attributes": object{"id": 1, "note": "", "noteable_type": kind}}
	}
	header := map[string]string{"X-Gitlab-Event": event, "X-Gitlab-Instance": i.g.base, "User-Agent": "GitLab/18.11.0"}
	if !strings.HasPrefix(secret, "whsec_") {
		header["X-Gitlab-Token"] = secret
		return deliveryOf(body, header)
	}
	header["webhook-id"], header["webhook-timestamp"] = fmt.Sprintf("id-%d", i.g.nextID()), "1795860000"
	d := deliveryOf(body, header)
	signing, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, signing)
	mac.Write([]byte(header["webhook-id"] + "." + header["webhook-timestamp"] + "." + d.Body))
	d.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return d
}
