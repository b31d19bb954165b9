package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	nats_jetstream "github.com/nats-io/nats.go/jetstream"

	bus "agent/internal/cluster"
	"agent/internal/cluster/jetstream"
	"agent/internal/tools/cluster/natstest"
)

func TestHealth(t *testing.T) {
	servers := natstest.Start(t, 3)
	b := open(t, jetstream.Options{URLs: servers.URLs()[:1], Replicas: 3, Monitor: append(servers.Monitor(), "http://127.0.0.1:1")})
	if _, err := b.Append(t.Context(), "x", 0, []byte("x"))(); err != nil {
		t.Fatal(err)
	}
	h := healthWhen(t, b, bus.Health.Whole)
	if h.Version != "2.15.3" || h.Server != "n0" || len(h.Streams) != 4 || !slices.Equal(h.Peers(), []string{"n0", "n1", "n2"}) {
		t.Errorf("%+v", h)
	}
	for _, s := range h.Streams {
		if s.Replicas != 3 || s.Leader == "" || s.Name == "test_history" && (s.Messages != 1 || s.Last != 1 || s.Bytes == 0) {
			t.Errorf("%+v", s)
		}
	}
	if len(h.Servers) != 4 {
		t.Fatalf("%+v", h.Servers)
	}
	for i, d := range h.Servers {
		if known := i < 3; d.SyncAlways != known || (d.Error == "") != known || known && d.Version != "2.15.3" {
			t.Errorf("%+v", d)
		}
	}
	servers.Kill(1)
	healthWhen(t, b, func(h bus.Health) bool { return !h.Whole() })
	servers.Restart(1)
	healthWhen(t, b, bus.Health.Whole)
}

func healthWhen(t *testing.T, b *jetstream.Bus, good func(bus.Health) bool) bus.Health {
	t.Helper()
	var h bus.Health
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var err error
		if h, err = b.Health(t.Context()); err == nil && good(h) {
			return h
		}
	}
	t.Fatalf("after 30 s: %+v", h)
	return h
}

// Workers that start at once make the streams together. A stream of another kind is none of
// ours.
func TestOpen(t *testing.T) {
	servers := natstest.Start(t, 3)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() { open(t, jetstream.Options{URLs: servers.URLs(), Name: "many", Replicas: 3}) })
	}
	group.Wait()
	for what, o := range map[string]jetstream.Options{
		"1 replicas|3 replicas": {URLs: servers.URLs(), Name: "many", Replicas: 1},
		"no address":            {Name: "many"},
		"name":                  {URLs: servers.URLs(), Name: "a.b"},
		"does not answer":       {URLs: []string{"nats://127.0.0.1:1"}, Name: "many"},
		"key":                   {URLs: servers.URLs(), Name: "many", CertFile: "x"},
		"nkey":                  {URLs: servers.URLs(), Name: "many", NKeyFile: "/does/not/exist"},
		"both":                  {URLs: servers.URLs(), Name: "many", NKeyFile: "x", CredsFile: "y"},
		"limits":                {URLs: servers.URLs(), Name: "limited"},
	} {
		if what == "limits" {
			makeLimited(t, servers)
		}
		b, err := jetstream.Open(t.Context(), o)
		if err == nil {
			b.Close()
			t.Errorf("%s: it opens", what)
			continue
		}
		if !strings.Contains(err.Error(), strings.Split(what, "|")[0]) && !strings.Contains(err.Error(), strings.Split(what+"|", "|")[1]) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func makeLimited(t *testing.T, servers *natstest.Servers) {
	nc, err := nats.Connect(servers.URLs()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := nats_jetstream.New(nc)
	if err == nil {
		_, err = js.CreateStream(t.Context(), nats_jetstream.StreamConfig{Name: "limited_history", Subjects: []string{"limited.history.>"}, MaxAge: time.Hour})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A history that was recreated, or that lost its last lines, is another one: who follows
// must not pass over that.
func TestFollowAnotherHistory(t *testing.T) {
	for what, change := range map[string]func(t *testing.T, servers *natstest.Servers, files string){
		"recreated": func(t *testing.T, servers *natstest.Servers, _ string) {
			nc, err := nats.Connect(servers.URLs()[0])
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			if _, err := nc.Request("$JS.API.STREAM.DELETE.test_history", nil, 10*time.Second); err != nil {
				t.Fatal(err)
			}
			open(t, jetstream.Options{URLs: servers.URLs()})
		},
		"lost its end": func(t *testing.T, servers *natstest.Servers, files string) { replaceFiles(t, servers, files) },
		"lost its end and has another one": func(t *testing.T, servers *natstest.Servers, files string) {
			replaceFiles(t, servers, files)
			b := open(t, jetstream.Options{URLs: servers.URLs()})
			for i := range 3 {
				if _, err := b.Append(t.Context(), string(rune('p'+i)), 0, []byte("another"))(); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			servers := natstest.Start(t, 1)
			relay, url := servers.Relay(t)
			b := open(t, jetstream.Options{URLs: servers.URLs()})
			if _, err := b.Append(t.Context(), "x", 0, []byte("1"))(); err != nil {
				t.Fatal(err)
			}
			files := t.TempDir()
			servers.Stop(0)
			if err := os.CopyFS(files, os.DirFS(servers.Files(0))); err != nil {
				t.Fatal(err)
			}
			servers.Restart(0)
			servers.Await()
			pos, err := b.Append(t.Context(), "x", 1, []byte("2"))()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			follower := open(t, jetstream.Options{URLs: []string{url}})
			for l, err := range follower.Follow(ctx, 1) {
				if err != nil {
					if !errors.Is(err, bus.ErrMissing) {
						t.Error(err)
					}
					return
				}
				if bytes.Equal(l.Data, []byte("another")) {
					t.Errorf("line %d is of another history", l.Pos)
				}
				if l.Pos == pos {
					relay.Silence(true)
					change(t, servers, files)
					relay.Silence(false)
					relay.Disconnect()
				}
			}
		})
	}
}

func replaceFiles(t *testing.T, servers *natstest.Servers, files string) {
	servers.Kill(0)
	if err := os.RemoveAll(servers.Files(0)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(servers.Files(0), os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	servers.Restart(0)
	servers.Await()
}
