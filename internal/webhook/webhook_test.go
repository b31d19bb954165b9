package webhook_test

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agent/forge"
	"agent/forge/forgetest"
	"agent/forge/github"
	"agent/forge/gitlab"
	"agent/internal/exhaustive"
	"agent/internal/webhook"
)

const (
	secret  = "secret-of-the-hook-0123456789"
	signing = "whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHQ="
)

// listen starts a server and gives its URL and the items that it was told of.
func listen(t *testing.T, secret string) (url string, found func() []string) {
	t.Helper()
	var mu sync.Mutex
	var items []string
	s, err := webhook.Listen(webhook.Options{Listen: "127.0.0.1:0", Secret: secret, Kinds: []*forge.Hook{github.Driver.Hook, gitlab.Driver.Hook}, Log: slog.New(slog.DiscardHandler),
		Found: func(_ *forge.Hook, i forge.HookItem) {
			mu.Lock()
			defer mu.Unlock()
			items = append(items, fmt.Sprintf("%s %s %d %q", i.Kind, i.Project, i.Number, i.Labels))
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return "http://" + s.Address() + "/any/path", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return items
	}
}

// deliveries are one of each kind, signed with a secret.
func deliveries(t *testing.T, secret string) map[string]forgetest.Delivery {
	t.Helper()
	hub := forgetest.New()
	t.Cleanup(hub.Close)
	hub.AddRepository("acme/widgets", forgetest.Repository{})
	issue := hub.AddIssue("acme/widgets", "An issue", "", "alice", "coding agent")
	pull := hub.AddPullRequest("acme/widgets", "A change", "", "alice", "topic", "main", "bug", "coding agent")
	hub.AddComment("acme/widgets", pull, "alice", "Hello.")
	lab := forgetest.NewGitLab()
	t.Cleanup(lab.Close)
	lab.AddProject("group/sub/widgets", forgetest.Project{})
	item := lab.AddIssue("group/sub/widgets", "An issue", "", "alice", "coding agent")
	merge := lab.AddMergeRequest("group/sub/widgets", "A change", "", "alice", "topic", "main")
	return map[string]forgetest.Delivery{
		`github_issue acme/widgets 1 ["coding agent"]`:              hub.Delivery("acme/widgets", issue, "issues", "labeled", secret),
		`github_pull_request acme/widgets 2 ["bug" "coding agent"]`: hub.Delivery("acme/widgets", pull, "issue_comment", "created", secret),
		`github_pull_request acme/widgets 2 ["coding agent" "bug"]`: hub.Delivery("acme/widgets", pull, "pull_request", "labeled", secret),
		`gitlab_issue group/sub/widgets 1 ["coding agent"]`:         item.Delivery(false, secret),
		`gitlab_issue group/sub/widgets 1 ["coding agent"] note`:    item.Delivery(true, secret),
		`gitlab_merge_request group/sub/widgets 1 []`:               merge.Delivery(false, secret),
		`gitlab_merge_request group/sub/widgets 1 [] note`:          merge.Delivery(true, secret),
	}
}

func send(t *testing.T, d forgetest.Delivery, url string) int {
	t.Helper()
	status, err := d.Send(url)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// TestDeliveries: each kind of delivery names its item, on both forges, with a secret and
// with a signing token. Whatever is changed about one, or signed with another secret, is 401.
func TestDeliveries(t *testing.T) {
	for _, secret := range []string{secret, signing} {
		url, found := listen(t, secret)
		n := 0
		for want, d := range deliveries(t, secret) {
			if status := send(t, d, url); status != http.StatusNoContent {
				t.Errorf("%s: %d", want, status)
			}
			if n++; len(found()) != n {
				t.Fatalf("%s was not told: %q", want, found())
			}
			got := found()[n-1]
			if want = strings.TrimSuffix(want, " note"); got != want && !strings.HasPrefix(want, "github_pull") {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		for _, other := range []string{secret[:len(secret)-4], "S" + secret[1:], "whsec_" + "b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhlcm90aGVyb3Q=", "x"} {
			for name, d := range deliveries(t, other) {
				if status := send(t, d, url); status != http.StatusUnauthorized {
					t.Errorf("%s, signed with another secret: %d", name, status)
				}
			}
		}
		for name, d := range deliveries(t, secret) {
			for what, change := range map[string]func(d *forgetest.Delivery){
				"no signature": func(d *forgetest.Delivery) {
					for _, h := range []string{"X-Hub-Signature-256", "X-Gitlab-Token", "Webhook-Signature"} {
						d.Header.Del(h)
					}
				},
				"an empty one": func(d *forgetest.Delivery) {
					for _, h := range []string{"X-Hub-Signature-256", "X-Gitlab-Token", "Webhook-Signature"} {
						if d.Header.Get(h) != "" {
							d.Header.Set(h, "")
						}
					}
				},
				"another body": func(d *forgetest.Delivery) {
					if d.Header.Get("X-Gitlab-Token") != "" {
						d.Header.Set("X-Gitlab-Token", secret+"x") // that one signs nothing
					}
					d.Body += " "
				},
				"another time": func(d *forgetest.Delivery) {
					if d.Header.Get("Webhook-Signature") == "" {
						d.Header.Del("X-Hub-Signature-256")
						d.Header.Del("X-Gitlab-Token")
					}
					d.Header.Set("Webhook-Timestamp", "1")
				},
			} {
				changed := forgetest.Delivery{Header: d.Header.Clone(), Body: d.Body}
				change(&changed)
				if status := send(t, changed, url); status != http.StatusUnauthorized {
					t.Errorf("%s, %s: %d", name, what, status)
				}
			}
		}
		if len(found()) != n {
			t.Errorf("%d items were told, %d are right", len(found()), n)
		}
	}
}

// TestOtherRequests: what is signed and about no item, and what is no delivery.
func TestOtherRequests(t *testing.T) {
	url, found := listen(t, secret)
	for body, want := range map[string]int{`{"zen": "x", "hook_id": 1}`: 204, `{"object_kind": "push", "project": {"path_with_namespace": "a/b"}}`: 204,
		`{`: 204, `[]`: 204, `{"object_kind":"issue","project":{"path_with_namespace":"a/b"},"object_attributes":{"iid":-1}}`: 204, "": 204} {
		d := forgetest.Delivery{Header: http.Header{"X-Gitlab-Token": {secret}}, Body: body}
		if status := send(t, d, url); status != want {
			t.Errorf("%s: %d", body, status)
		}
	}
	response, err := http.Get(url)
	if err != nil || response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Server") != webhook.Mark {
		t.Errorf("GET: %v %v", response, err)
	}
	_ = response.Body.Close()
	if !webhook.Answers(t.Context(), strings.Split(url, "/")[2]) {
		t.Error("it is not known as ours")
	}
	if len(found()) != 0 {
		t.Errorf("%q", found())
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestFlood: deliveries that are forged, doubled, replayed, huge and slow, many at a time. The
// items that may be looked at are those of right ones, each once, and memory stays within its bound.
func TestFlood(t *testing.T) {
	q := webhook.NewQueue()
	var told atomic.Int64
	s, err := webhook.Listen(webhook.Options{Listen: "127.0.0.1:0", Secret: secret, Kinds: []*forge.Hook{github.Driver.Hook, gitlab.Driver.Hook}, Log: slog.New(slog.DiscardHandler),
		Found: func(_ *forge.Hook, i forge.HookItem) {
			told.Add(1)
			q.Add(webhook.Item{Key: forge.TaskKey{Host: "h", Project: i.Project, Kind: i.Kind, Number: i.Number}})
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	url := "http://" + s.Address()
	right, wrong := deliveries(t, secret), deliveries(t, secret+"!")
	var all []forgetest.Delivery
	for _, d := range right {
		all = append(all, d)
	}
	for _, d := range wrong {
		all = append(all, d, forgetest.Delivery{Header: d.Header, Body: strings.Repeat("x", 1<<16)})
	}
	slow := slowly(t, s.Address(), exhaustive.Of(50, 200))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	defer client.CloseIdleConnections()
	var peak uint64
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var senders sync.WaitGroup
	for w := range 8 {
		senders.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 2))
			for n := range exhaustive.Of(300, 50_000/8) {
				d := all[random.IntN(len(all))]
				var body io.Reader = strings.NewReader(d.Body)
				if n%100 == 50 {
					body = endless{}
				}
				request, _ := http.NewRequest(http.MethodPost, url, body)
				request.Header = d.Header.Clone()
				response, err := client.Do(request)
				if err != nil {
					continue // over a bound: closed in the middle
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if w == 0 && n%50 == 0 {
					var now runtime.MemStats
					runtime.ReadMemStats(&now)
					peak = max(peak, now.HeapInuse)
				}
			}
		})
	}
	senders.Wait()
	slow()
	items := q.Take()
	if len(items) != 4 { // of two issues, a pull request and a merge request
		t.Errorf("to be looked at: %v", items)
	}
	if told.Load() == 0 || len(q.Take()) != 0 {
		t.Errorf("%d were told, and more items follow", told.Load())
	}
	grown := int64(peak) - int64(before.HeapInuse)
	t.Logf("%d deliveries, %d slow ones, %d were right and told, %d items to look at, the heap grew by %d MiB", 8*exhaustive.Of(300, 50_000/8), exhaustive.Of(50, 200), told.Load(), len(items), grown>>20)
	if grown > 128<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	if status := send(t, right[`gitlab_issue group/sub/widgets 1 ["coding agent"]`], url); status != http.StatusNoContent {
		t.Errorf("afterwards: %d", status)
	}
}

// slowly opens connections that send a byte of a delivery from time to time.
func slowly(t *testing.T, address string, count int) (stop func()) {
	t.Helper()
	var all []net.Conn
	for range count {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=00\r\nContent-Length: 4000000\r\n\r\n{")
		all = append(all, c)
	}
	return func() {
		for _, c := range all {
			_ = c.Close()
		}
	}
}

// TestQueue: deliveries about one item are one look; the next one comes some seconds later,
// and all together no more often than the rate. More items than can wait are left to polling.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := webhook.NewQueue()
		key := func(n int) webhook.Item { return webhook.Item{Key: forge.TaskKey{Number: n}} }
		for range 50_000 {
			q.Add(key(1))
		}
		if got := q.Take(); len(got) != 1 {
			t.Fatalf("%d looks", len(got))
		}
		q.Add(key(1))
		if q.Add(key(2)); q.Fresh() != 1 {
			t.Errorf("%d are fresh, of which one was looked at a moment ago", q.Fresh())
		}
		if got := q.Take(); len(got) != 1 || q.Fresh() != 0 {
			t.Errorf("%d looks, %d are fresh", len(got), q.Fresh())
		}
		looks, begin := 0, time.Now()
		for range 100 { // a replay that never ends
			q.Add(key(1))
			looks += len(q.Take())
			time.Sleep(time.Second)
		}
		if looks < 15 || looks > 20 {
			t.Errorf("%d looks in %v", looks, time.Since(begin))
		}
		time.Sleep(time.Minute)
		q.Take()
		time.Sleep(time.Minute)
		for n := range 50_000 {
			q.Add(key(n + 2))
		}
		taken := map[int]bool{}
		for _, i := range q.Take() {
			taken[i.Key.Number] = true
		}
		first := len(taken)
		for begin = time.Now(); len(taken) < 10_000; {
			<-q.Wake()
			for _, i := range q.Take() {
				taken[i.Key.Number] = true
			}
		}
		if seconds := time.Since(begin).Seconds(); first > 20 || seconds < 4900 {
			t.Errorf("%d at once, all in %.0f s", first, seconds)
		}
		time.Sleep(time.Minute)
		if left := q.Take(); len(left) != 0 {
			t.Errorf("more than 10,000 waited: %d", len(left))
		}
	})
}
