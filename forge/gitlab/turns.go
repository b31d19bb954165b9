package gitlab

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"agent/forge/rest"
)

// Many projects that can only be listed one by one are asked in turns. GitLab counts each
// request, so what all of them may take in an hour is bounded.
const (
	turnsPerHour = 1600
	turnsSaved   = 100           // at most, of a label, by looks that took less
	turnsKnow    = 6 * time.Hour // what a project is, while it is asked in turns
)

// turns says whose turn it is. What the other projects said last is kept in memory. The
// disk knows the times only, for the next process.
type turns struct {
	mu    sync.Mutex
	lists map[string]*turn   // by label; nil: not read yet
	said  map[string][]found // by label and project
}

// turn is how far the projects were asked about a label.
type turn struct {
	At    time.Time            `json:"at"`   // of the latest look
	Left  float64              `json:"left"` // requests that it may take
	Asked map[string]time.Time `json:"asked"`
}

// inTurns lists projects one by one, as many as may be asked now, those first that were
// not for longest.
func (c *Client) inTurns(ctx context.Context, names []string, label string) ([]found, error) {
	c.turns.mu.Lock()
	defer c.turns.mu.Unlock()
	turn := c.nextTurn(label)
	order := slices.Clone(names)
	slices.SortStableFunc(order, func(a, b string) int { return turn.Asked[a].Compare(turn.Asked[b]) })
	var failures []error
	for _, name := range order {
		cost := c.turnCost(name)
		if turn.Left < cost || turn.Asked[name].Equal(turn.At) {
			break
		}
		turn.Left -= cost
		part, err := c.projectTasks(ctx, name, label, turnsKnow)
		if err != nil {
			failures = append(failures, rest.Named(name, err))
			c.forgetProject(name)
		}
		if hopeless(err) {
			break
		}
		turn.Asked[name] = turn.At
		c.turns.said[label+"\n"+name] = part
	}
	if body, err := json.Marshal(c.turns.lists); err == nil {
		c.cfg.Disk.KeepNote(c.turnsNote(), body)
	}
	var all []found
	for _, name := range names {
		all = append(all, c.turns.said[label+"\n"+name]...)
	}
	return all, errors.Join(failures...)
}

func (c *Client) turnsNote() string { return "turns " + c.web }

// nextTurn adds what a label may take since its latest look.
func (c *Client) nextTurn(label string) *turn {
	t, now := &c.turns, c.now().UTC()
	if t.lists == nil {
		t.lists, t.said = map[string]*turn{}, map[string][]found{}
		if body := c.cfg.Disk.Note(c.turnsNote()); json.Unmarshal(body, &t.lists) != nil || t.lists == nil {
			t.lists = map[string]*turn{} // there is none, or it is damaged: start over
		}
	}
	maps.DeleteFunc(t.lists, func(_ string, l *turn) bool { return l == nil || l.Asked == nil || now.Sub(l.At).Abs() > 24*time.Hour })
	next := t.lists[label]
	if next == nil {
		next = &turn{At: now, Left: turnsSaved, Asked: map[string]time.Time{}}
		t.lists[label] = next
	}
	share := turnsPerHour / float64(len(t.lists))
	next.Left = min(turnsSaved, next.Left+max(now.Sub(next.At), 0).Hours()*share)
	next.At = now
	maps.DeleteFunc(next.Asked, func(_ string, at time.Time) bool { return at.After(now) }) // the clock was put back
	return next
}

// turnCost is how many requests a project takes: two lists, and what it is.
func (c *Client) turnCost(name string) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hit, known := c.projects[strings.ToLower(name)]; known && c.now().Sub(hit.at) < turnsKnow {
		return 2
	}
	return 3
}

// EachWithin is about how long it takes until each project was asked, where they are
// asked in turns; 0 elsewhere.
func (c *Client) EachWithin() time.Duration {
	c.turns.mu.Lock()
	defer c.turns.mu.Unlock()
	return time.Duration(len(c.turns.lists)*len(c.cfg.Projects)*3) * time.Hour / turnsPerHour
}
