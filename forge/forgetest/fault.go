package forgetest

import (
	"net/http"
	"strconv"
	"time"

	"agent/internal/lazyregexp"
)

// FaultKind is a way to fail.
type FaultKind string

// The ways to fail.
const (
	Store500     FaultKind = "store, then answer 500"
	Store502HTML FaultKind = "store, then answer 502 with a web page"
	StoreDrop    FaultKind = "store, then drop the connection"
	StoreGarbled FaultKind = "store, then answer 2xx with broken JSON"
	StoreSlow    FaultKind = "store, then wait Delay before the answer"
	Drop         FaultKind = "drop the connection, store nothing"
	Slow         FaultKind = "wait Delay before anything else"
	Secondary    FaultKind = "403, secondary limit; Retry-After if RetryAfter is set"
	Primary      FaultKind = "403, primary limit used up; reset after RetryAfter"
	TooMany      FaultKind = "429; Retry-After if RetryAfter is set"
	Unauthorized FaultKind = "401"
	ListLag      FaultKind = "store, but lists leave the new comment out for Delay, and for the next Lists lists"
	Answer       FaultKind = "store nothing, answer Status, Header and Body"
)

// Fault makes requests fail. The zero Nth and Times mean 1.
type Fault struct {
	Method string // "" is every method
	Path   string // regular expression for the whole path, without the API's prefix; "" is every path
	Nth    int    // the first matching request that fails, counted from 1 when the fault is added
	Times  int    // how many from there on; negative is all

	Kind       FaultKind
	Delay      time.Duration
	RetryAfter time.Duration
	Lists      int
	Status     int // the rest is for Answer
	Header     http.Header
	Body       string
}

// armed is a fault that counts.
type armed struct {
	Fault
	path *lazyregexp.Regexp
	seen int
}

// Fault adds a fault. Of several that meet one request the first added wins; all count it.
func (s *wire) Fault(f Fault) {
	if f.Path == "" {
		f.Path = ".*"
	}
	f.Nth = max(f.Nth, 1)
	if f.Times == 0 {
		f.Times = 1
	}
	a := &armed{Fault: f, path: lazyregexp.New("^(?:" + f.Path + ")$")}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, a)
}

// ClearFaults ends all faults. What a ListLag hides stays hidden for its time.
func (s *wire) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

func (s *wire) match(c *call) (found *Fault) {
	for _, a := range s.faults {
		if (a.Method != "" && a.Method != c.Method) || !a.path.MatchString(c.URL.Path) {
			continue
		}
		a.seen++
		if found == nil && a.seen >= a.Nth && (a.Times < 0 || a.seen < a.Nth+a.Times) {
			found = &a.Fault
		}
	}
	return found
}

// perform answers the request, as the fault wants it if there is one.
func (s *wire) perform(w http.ResponseWriter, c *call, f *Fault, at int) {
	if f == nil {
		a := s.handle(c)
		s.show(c, a)
		s.send(w, c, at, a)
		return
	}
	switch f.Kind {
	case Store500:
		s.handle(c)
		s.send(w, c, at, s.problem(http.StatusInternalServerError, "Server Error"))
	case Store502HTML:
		s.handle(c)
		s.send(w, c, at, reply{status: http.StatusBadGateway, raw: []byte("<html><h1>502 Bad Gateway</h1></html>\n"),
			header: http.Header{"Content-Type": {"text/html"}}})
	case StoreDrop:
		s.handle(c)
		panic(http.ErrAbortHandler)
	case StoreGarbled:
		a := s.handle(c)
		a.raw = a.bytes()[:len(a.bytes())/2]
		s.send(w, c, at, a)
	case StoreSlow:
		a := s.handle(c)
		s.wait(c, f.Delay)
		s.send(w, c, at, a)
	case Drop:
		panic(http.ErrAbortHandler)
	case Slow:
		s.wait(c, f.Delay)
		s.send(w, c, at, s.handle(c))
	case ListLag:
		s.send(w, c, at, s.lag(c, f))
	case Answer:
		s.send(w, c, at, reply{status: f.Status, raw: []byte(f.Body), header: f.Header})
	default:
		s.mu.Lock()
		a := s.refuse(f, s.now())
		s.mu.Unlock()
		s.send(w, c, at, a)
	}
}

// refusal is GitHub's answer of the faults that store nothing.
func refusal(f *Fault, now time.Time) reply {
	a := problem(http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes.")
	a.header = http.Header{}
	switch f.Kind {
	case Secondary, TooMany:
		a.body.(object)["documentation_url"] = "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
		if f.Kind == TooMany {
			a.status = http.StatusTooManyRequests
		}
		if f.RetryAfter > 0 {
			a.header.Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
		}
	case Primary:
		a.body.(object)["message"] = "API rate limit exceeded"
		a.header.Set("X-Ratelimit-Remaining", "0")
		a.header.Set("X-Ratelimit-Reset", strconv.FormatInt(now.Add(f.RetryAfter).Unix(), 10))
	case Unauthorized:
		return problem(http.StatusUnauthorized, "Bad credentials")
	default:
		panic("forgetest: no fault kind " + string(f.Kind))
	}
	return a
}

// lag handles the request and hides the comment it made from the lists.
func (s *wire) lag(c *call, f *Fault) reply {
	a := s.handle(c)
	o, isObject := a.body.(object)
	if !isObject || a.status != http.StatusCreated {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _ := o["id"].(int64)
	if m := s.comment(id); m != nil {
		m.hiddenLists, m.hiddenUntil = f.Lists, s.now().Add(f.Delay)
	}
	return a
}

// wait ends early when the client goes away, and gives no answer when the server does.
func (s *wire) wait(c *call, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.Context().Done():
	case <-s.closing:
		panic(http.ErrAbortHandler)
	}
}
