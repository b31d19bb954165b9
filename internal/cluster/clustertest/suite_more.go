package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"agent/internal/cluster"
)

func objects(t *testing.T, w world) {
	_, err := w.a.Object(limited(t), "o/one")
	wantErr(t, "an object that is not there", err, cluster.ErrMissing)
	for range 2 { // again is no harm
		ok(t, w.a.PutObject(limited(t), "o/one", []byte("text")))
	}
	if got := must[[]byte](t)(w.b.Object(limited(t), "o/one")); string(got) != "text" {
		t.Errorf("%q", got)
	}
}

func names(t *testing.T, bus cluster.Bus, prefix string) []string {
	t.Helper()
	all := must[[]string](t)(bus.ObjectNames(limited(t), prefix))
	slices.Sort(all)
	return all
}

func prefixes(t *testing.T, w world) {
	all := []string{"p/a", "p/a/1", "p/a/1.2_x-y", "p/a.1", "p/ab", "p/b/0", "p/b/1/2"}
	for _, name := range all {
		ok(t, w.a.PutObject(limited(t), name, []byte(name)))
	}
	equal(t, "all", names(t, w.b, "p/"), []string{"p/a", "p/a.1", "p/a/1", "p/a/1.2_x-y", "p/ab", "p/b/0", "p/b/1/2"})
	equal(t, "below a", names(t, w.b, "p/a/"), []string{"p/a/1", "p/a/1.2_x-y"})
	equal(t, "a itself", names(t, w.b, "p/a"), []string{"p/a"})
	equal(t, "nothing", names(t, w.b, "p/c/"), nil)
	ok(t, w.b.RemoveObjects(limited(t), "p/a/"))
	equal(t, "without those below a", names(t, w.a, "p/"), []string{"p/a", "p/a.1", "p/ab", "p/b/0", "p/b/1/2"})
	ok(t, w.b.RemoveObjects(limited(t), "p/a"))
	equal(t, "without a", names(t, w.a, "p/"), []string{"p/a.1", "p/ab", "p/b/0", "p/b/1/2"})
	_, err := w.a.Object(limited(t), "p/a")
	wantErr(t, "a removed object", err, cluster.ErrMissing)
	if got := must[[]byte](t)(w.a.Object(limited(t), "p/a.1")); string(got) != "p/a.1" {
		t.Errorf("%q", got)
	}
	ok(t, w.a.RemoveObjects(limited(t), "p/never/"))
}

func objectSizes(t *testing.T, w world) {
	for _, size := range []int{0, 1, 512 << 10, 512<<10 + 1, 1 << 20, 3<<20 + 17} {
		name := fmt.Sprint("sizes/", size)
		data := bytes.Repeat([]byte{0, 1, 2, 3, 4, 5, 6}, size/7+1)[:size]
		ok(t, w.a.PutObject(limited(t), name, data))
		if got := must[[]byte](t)(w.b.Object(limited(t), name)); !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %d", size, len(got))
		}
	}
	if got := names(t, w.a, "sizes/"); len(got) != 6 {
		t.Errorf("objects of several parts are listed as %v", got)
	}
}

func keys(t *testing.T, w world) {
	ctx := limited(t)
	_, err := w.a.Key(ctx, "k/1")
	wantErr(t, "a key that is not there", err, cluster.ErrMissing)
	_, err = w.a.SetKey(ctx, "k/1", []byte("x"), 7)
	wantErr(t, "a revision that is not there", err, cluster.ErrStale)
	one := must[uint64](t)(w.a.SetKey(ctx, "k/1", []byte("one"), 0))
	_, err = w.b.SetKey(ctx, "k/1", []byte("x"), 0)
	wantErr(t, "a key that is there", err, cluster.ErrStale)
	two := must[uint64](t)(w.b.SetKey(ctx, "k/1", []byte("two"), one))
	_, err = w.a.SetKey(ctx, "k/1", []byte("x"), one)
	wantErr(t, "an old revision", err, cluster.ErrStale)
	wantErr(t, "delete an old revision", w.a.DeleteKey(ctx, "k/1", one), cluster.ErrStale)
	if v := must[cluster.Value](t)(w.a.Key(ctx, "k/1")); v.Key != "k/1" || string(v.Data) != "two" || v.Revision != two || one == 0 || v.Deleted {
		t.Errorf("%+v, want revision %d", v, two)
	}
	ok(t, w.a.DeleteKey(ctx, "k/1", two))
	_, err = w.b.Key(ctx, "k/1")
	wantErr(t, "a deleted key", err, cluster.ErrMissing)
	wantErr(t, "delete it again", w.a.DeleteKey(ctx, "k/1", two), cluster.ErrStale)
	_, err = w.a.SetKey(ctx, "k/1", []byte("x"), two)
	wantErr(t, "the revision of a deleted key", err, cluster.ErrStale)
	if three := must[uint64](t)(w.b.SetKey(ctx, "k/1", nil, 0)); three <= two {
		t.Errorf("revision %d after %d", three, two)
	}
	if v := must[cluster.Value](t)(w.a.Key(ctx, "k/1")); len(v.Data) != 0 {
		t.Errorf("%q", v.Data)
	}
}

func keyRace(t *testing.T, w world) {
	ctx := limited(t)
	revision := uint64(0)
	for round := range 5 {
		var mu sync.Mutex
		var group sync.WaitGroup
		won, next := 0, uint64(0)
		for i := range 6 {
			bus := []cluster.Bus{w.a, w.b}[i%2]
			group.Go(func() {
				made, err := bus.SetKey(ctx, "k/race", fmt.Append(nil, i), revision)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
					next = made
				} else {
					wantErr(t, "one that was late", err, cluster.ErrStale)
				}
			})
		}
		group.Wait()
		if won != 1 {
			t.Fatalf("round %d: %d of 6 were first", round, won)
		}
		revision = next
	}
}

func watch(t *testing.T, w world) {
	ctx, stop := context.WithCancel(limited(t))
	defer stop()
	one := must[uint64](t)(w.a.SetKey(ctx, "watch/a/1", []byte("1"), 0))
	gone := must[uint64](t)(w.a.SetKey(ctx, "watch/a/gone", []byte("x"), 0))
	ok(t, w.a.DeleteKey(ctx, "watch/a/gone", gone))
	must[uint64](t)(w.a.SetKey(ctx, "watch/b", []byte("no"), 0))
	var got []string
	for v, err := range w.b.WatchKeys(ctx, "watch/a/") {
		if err != nil {
			wantErr(t, "the end", err, context.Canceled)
			break
		}
		if v.Deleted && v.Key == "watch/a/gone" {
			continue // may be told
		}
		got = append(got, fmt.Sprint(v.Key, " ", string(v.Data), " ", v.Deleted))
		switch {
		case v.Key == "":
			must[uint64](t)(w.a.SetKey(ctx, "watch/a/2", []byte("2"), 0))
		case v.Key == "watch/a/2":
			must[uint64](t)(w.a.SetKey(ctx, "watch/ab", []byte("no"), 0))
			one = must[uint64](t)(w.b.SetKey(ctx, "watch/a/1", []byte("1b"), one))
		case string(v.Data) == "1b":
			ok(t, w.a.DeleteKey(ctx, "watch/a/1", one))
		case v.Deleted:
			stop()
		}
	}
	equal(t, "watched", got, []string{"watch/a/1 1 false", "  false", "watch/a/2 2 false", "watch/a/1 1b false", "watch/a/1  true"})
	for v, err := range w.a.WatchKeys(limited(t), "watch/nothing/") {
		ok(t, err)
		if v.Key != "" {
			t.Errorf("%+v", v)
		}
		break
	}
}

// Names of keys stay apart, whatever an engine makes of them.
func keyNames(t *testing.T, w world) {
	ctx := limited(t)
	all := []string{"names/a", "names/a/b", "names/a.b", "names/a_b", "names/a-b", "names/A", "names/.a", "names/a.", "names/..", "names/a..b"}
	for _, key := range all {
		must[uint64](t)(w.a.SetKey(ctx, key, []byte(key), 0))
	}
	var seen []string
	for v, err := range w.b.WatchKeys(ctx, "names/") {
		ok(t, err)
		if v.Key == "" {
			break
		}
		seen = append(seen, v.Key)
		if string(v.Data) != v.Key {
			t.Errorf("%s holds %s", v.Key, v.Data)
		}
	}
	slices.Sort(seen)
	slices.Sort(all)
	equal(t, "keys", seen, all)
}
