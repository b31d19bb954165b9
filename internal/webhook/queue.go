package webhook

import (
	"slices"
	"sync"
	"time"

	"agent/forge"
)

const (
	itemGap    = 5 * time.Second // between two looks at one item
	burst      = 20.0            // looks at once
	perSecond  = 2.0             // looks in the long run
	maxWaiting = 10_000          // items; of more than these nobody hears, until the next round
)

// Queue holds the items that are to be looked at. Deliveries about an item that waits already are
// one. An item that was looked at a moment ago, and more items than the rate allows, wait.
type Queue struct {
	wake chan struct{}

	mu      sync.Mutex
	waiting map[forge.TaskKey]Item
	order   []forge.TaskKey
	looked  map[forge.TaskKey]time.Time // of the last few seconds
	tokens  float64
	filled  time.Time
	timer   *time.Timer
}

// Item is where to look. Labels is nil if the delivery did not say which it has.
type Item struct {
	Key     forge.TaskKey
	Labels  []string
	Comment bool // a delivery was about a comment
}

// NewQueue makes an empty queue.
func NewQueue() *Queue {
	return &Queue{wake: make(chan struct{}, 1), waiting: map[forge.TaskKey]Item{}, looked: map[forge.TaskKey]time.Time{}, tokens: burst, filled: time.Now()}
}

// Wake has a token when there may be something to take.
func (q *Queue) Wake() <-chan struct{} { return q.wake }

// Add notes an item. The latest delivery about it says which labels it has.
func (q *Queue) Add(i Item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.waiting[i.Key]; !known {
		if len(q.waiting) >= maxWaiting {
			return
		}
		q.order = append(q.order, i.Key)
	}
	i.Comment = i.Comment || q.waiting[i.Key].Comment
	q.waiting[i.Key] = i
	q.signal()
}

// Fresh is how many items wait that were not looked at a moment ago.
func (q *Queue) Fresh() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key := range q.waiting {
		if _, looked := q.looked[key]; !looked {
			n++
		}
	}
	return n
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Take gives the items that may be looked at now. Others wait, and wake then.
func (q *Queue) Take() (items []Item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.tokens = min(burst, q.tokens+perSecond*now.Sub(q.filled).Seconds())
	q.filled = now
	for key, at := range q.looked {
		if now.Sub(at) >= itemGap {
			delete(q.looked, key)
		}
	}
	var recent []forge.TaskKey
	n := 0
	for ; n < len(q.order) && q.tokens >= 1; n++ {
		key := q.order[n]
		if _, ok := q.looked[key]; ok {
			recent = append(recent, key)
			continue
		}
		q.tokens--
		q.looked[key] = now
		items = append(items, q.waiting[key])
		delete(q.waiting, key)
	}
	if q.order = q.order[n:]; len(recent) > 0 {
		q.order = slices.Concat(recent, q.order)
	}
	if len(q.order) > 0 {
		q.wakeLater(now)
	}
	return items
}

// Spare says that nothing was read for an item that was taken: that was no look.
func (q *Queue) Spare(key forge.TaskKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.looked, key)
	q.tokens = min(burst, q.tokens+1)
}

// wakeLater wakes when the first of the items that wait may be looked at.
func (q *Queue) wakeLater(now time.Time) {
	wait := itemGap
	for _, key := range q.order {
		at, recent := q.looked[key]
		if !recent {
			wait = time.Duration(float64(time.Second) / perSecond)
			break
		}
		wait = min(wait, itemGap-now.Sub(at))
	}
	if q.timer != nil {
		q.timer.Stop()
	}
	q.timer = time.AfterFunc(wait, q.signal)
}
