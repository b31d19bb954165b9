package clustertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"agent/internal/cluster"
)

// take takes a job that must be there.
func take(t *testing.T, bus cluster.Bus, wait time.Duration) cluster.Job {
	t.Helper()
	j := must[cluster.Job](t)(bus.Take(limited(t), wait))
	if j == nil {
		t.Fatal("there is no job")
	}
	return j
}

// none takes a job that must not be there.
func none(t *testing.T, bus cluster.Bus) {
	t.Helper()
	if j := must[cluster.Job](t)(bus.Take(limited(t), 50*time.Millisecond)); j != nil {
		t.Errorf("there is a job: %s", j.Data())
	}
}

const soon = 5 * time.Second // is waited for only if something is wrong

func queue(t *testing.T, w world) {
	none(t, w.a)
	ok(t, w.a.Offer(limited(t), "queue/a.1", 0, []byte("data")))
	j := take(t, w.b, soon)
	if string(j.Data()) != "data" {
		t.Errorf("%q", j.Data())
	}
	none(t, w.a)
	ok(t, j.Working())
	ok(t, j.Done())
	none(t, w.b)
	if w.a.Offer(limited(t), "lane", 10, nil) == nil || w.a.Offer(limited(t), "lane", -1, nil) == nil {
		t.Error("there are more than ten lanes")
	}
}

func offeredTwice(t *testing.T, w world) {
	ok(t, w.a.Offer(limited(t), "twice", 1, []byte("first")))
	ok(t, w.b.Offer(limited(t), "twice", 1, []byte("second")))
	j := take(t, w.a, soon)
	ok(t, w.b.Offer(limited(t), "twice", 1, []byte("third"))) // while it is worked on
	none(t, w.b)
	if string(j.Data()) != "first" {
		t.Errorf("%q", j.Data())
	}
	ok(t, j.Done())
	none(t, w.b)
	ok(t, w.b.Offer(limited(t), "twice", 1, []byte("fourth")))
	j = take(t, w.b, soon)
	if string(j.Data()) != "fourth" {
		t.Errorf("%q", j.Data())
	}
	ok(t, j.Done())
}

func lanes(t *testing.T, w world) {
	for i, lane := range []int{5, 9, 0, 5, 3, 0} {
		ok(t, w.a.Offer(limited(t), fmt.Sprint("lanes/", i), lane, fmt.Appendf(nil, "%d/%d", lane, i)))
	}
	time.Sleep(300 * time.Millisecond) // replicas may need a moment until they all see a job
	var got []string
	for range 6 {
		j := take(t, w.b, soon)
		got = append(got, string(j.Data()))
		ok(t, j.Done())
	}
	equal(t, "order", got, []string{"0/2", "0/5", "3/4", "5/0", "5/3", "9/1"})
}

func takeWaits(t *testing.T, w world) {
	for lane := range 3 {
		got := make(chan string, 1)
		ctx := limited(t)
		go func() {
			j, err := w.a.Take(ctx, 20*time.Second)
			if err != nil || j == nil {
				got <- fmt.Sprint("no job: ", err)
				return
			}
			got <- fmt.Sprint(string(j.Data()), j.Done())
		}()
		time.Sleep(20 * time.Millisecond) // it waits, most likely
		began := time.Now()
		ok(t, w.b.Offer(ctx, "waits", lane, []byte("x")))
		if text := <-got; text != "x<nil>" {
			t.Errorf("lane %d: %s", lane, text)
		}
		if took := time.Since(began); took > soon {
			t.Errorf("lane %d: it came after %v", lane, took)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if j, _ := w.a.Take(ctx, time.Hour); j != nil {
		t.Errorf("there is a job: %s", j.Data())
	}
}

func workerGone(t *testing.T, w world) {
	ok(t, w.a.Offer(limited(t), "gone", 2, []byte("x")))
	ok(t, w.a.Offer(limited(t), "kept", 2, []byte("y")))
	take(t, w.a, soon) // and says nothing
	kept := take(t, w.a, soon)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(w.wait / 5):
				if err := kept.Working(); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	j := take(t, w.b, w.wait+soon)
	if string(j.Data()) != "x" {
		t.Errorf("%q was given to another one", j.Data())
	}
	ok(t, j.Done())
	none(t, w.b)
	close(stop)
	<-done
	ok(t, kept.Done())
}

func later(t *testing.T, w world) {
	ok(t, w.a.Offer(limited(t), "later", 4, []byte("x")))
	j := take(t, w.a, soon)
	const after = 300 * time.Millisecond
	ok(t, j.Later(after))
	asked := time.Now()
	ok(t, w.a.Offer(limited(t), "later", 4, []byte("y"))) // it waits already
	j = take(t, w.b, after+soon)
	if took := time.Since(asked); took < after/2 {
		t.Errorf("it came after %v", took)
	}
	if string(j.Data()) != "x" {
		t.Errorf("%q", j.Data())
	}
	ok(t, j.Later(0))
	ok(t, take(t, w.a, soon).Done())
	none(t, w.a)
}

func takenOnce(t *testing.T, w world) {
	const jobs, workers = 40, 4
	var mu sync.Mutex
	var group sync.WaitGroup
	taken := map[string]int{}
	for i := range workers {
		bus := []cluster.Bus{w.a, w.b}[i%2]
		ctx := limited(t)
		group.Go(func() {
			for ctx.Err() == nil {
				j, err := bus.Take(ctx, time.Second)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if j != nil {
					taken[string(j.Data())]++
				}
				all := len(taken) == jobs
				mu.Unlock()
				if j != nil {
					if err := j.Done(); err != nil {
						t.Error(err)
					}
				}
				if all {
					return
				}
			}
		})
	}
	for i := range jobs {
		ok(t, w.a.Offer(limited(t), fmt.Sprint("once/", i), i%10, fmt.Append(nil, i)))
	}
	group.Wait()
	for id, times := range taken {
		if times != 1 {
			t.Errorf("job %s was taken %d times", id, times)
		}
	}
	if len(taken) != jobs {
		t.Errorf("%d jobs", len(taken))
	}
}
