package webui

import (
	"bytes"
	"cmp"
	_ "embed" // the script
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/page"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/search"
)

//go:embed live.js
var liveJS string

var assets = map[string]string{"page.css": page.CSS, "page.js": page.JS, "live.js": liveJS}

func serveAsset(w http.ResponseWriter, name, text string) {
	kind := "text/javascript; charset=utf-8"
	if strings.HasSuffix(name, ".css") {
		kind = "text/css; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write([]byte(text))
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Local().Format("2006-01-02 15:04 MST")
}

// line is a text of the world in one line.
func line(s string) string { return sanitize.Line(s, 300) }

// frame is what all pages share.
type frame struct{ lang i18n.Lang }

// T is a text of the table.
func (f frame) T(id i18n.ID, args ...any) string { return i18n.Text(f.lang, id, args...) }

func (f frame) text(id i18n.ID, args ...any) g.Node { return g.Text(f.T(id, args...)) }

func (f frame) page(title string, body ...g.Node) g.Node {
	return page.Document(f.lang, title, page.Served(), body...)
}

// nav leads to the other pages.
func (f frame) nav(here string) g.Node {
	return h.Nav(h.Class("crumbs"), h.A(h.Href("/"), f.text("ui.list")), h.A(h.Href("/stats"), f.text("ui.stats")), h.Span(g.Text(here)))
}

func (s *Server) frame() frame { return frame{s.source.Lang} }

// write sends a page once it is whole: what panics until then is answered with an error.
func write(w http.ResponseWriter, render func(io.Writer) error) {
	var out bytes.Buffer
	_ = render(&out) // memory takes it
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes())
}

// refuse says why there is no page.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	if contexts.IsGone(err) {
		code = http.StatusNotFound
	}
	http.Error(w, sanitize.Line(err.Error(), 300), code)
}

const (
	perPage    = 50
	mostStats  = 500                    // rows of the statistics
	waitFor    = 100 * time.Millisecond // how long a page waits for what takes long
	listFresh  = 5 * time.Second
	statsFresh = 30 * time.Second
)

// all is the contexts, the latest first. Until all are known it is some, as the index has them.
func (s *Server) all() (all []report.Listed, reading bool, err error) {
	all, at, err := s.lists.get(listFresh, waitFor, func() ([]report.Listed, error) {
		s.seen.Longest = largeLog
		return report.ListOf(s.source.Store, contexts.Query{Seen: &s.seen})
	})
	if err != nil || !at.IsZero() {
		return all, false, err
	}
	known, err := s.source.Store.Known(2 * perPage)
	for _, info := range known {
		all = append(all, report.ListedOf(s.source.Store, info))
	}
	return all, true, err
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	all, reading, err := s.all()
	if err != nil {
		s.refuse(w, err)
		return
	}
	q := r.URL.Query()
	p := listPage{frame: s.frame(), Query: q.Get("q"), State: q.Get("state"), Repo: q.Get("repo"), All: len(all), Reading: reading}
	if reading {
		w.Header().Set("Refresh", "1")
	}
	number, _ := strconv.Atoi(q.Get("page"))
	first := max(number, 0) * perPage
	words, repo := strings.ToLower(p.Query), strings.ToLower(p.Repo)
	for _, l := range all {
		if p.State != "" && l.State != p.State || repo != "" && !strings.Contains(strings.ToLower(l.TaskKey), repo) ||
			words != "" && !strings.Contains(strings.ToLower(l.Title+" "+l.TaskKey+" "+l.UUID), words) {
			continue
		}
		if p.Fit >= first && len(p.Rows) < perPage {
			p.Rows = append(p.Rows, l)
		}
		p.Fit++
	}
	p.From, p.To = min(first+1, p.Fit), min(first+len(p.Rows), p.Fit)
	neighbour := func(n int) string {
		q.Set("page", strconv.Itoa(n))
		return "/?" + q.Encode()
	}
	if number > 0 {
		p.Before = neighbour(number - 1)
	}
	if p.To < p.Fit && len(p.Rows) > 0 {
		p.After = neighbour(number + 1)
	}
	write(w, p.document().Render)
}

// sums are what all logs add up to in one way.
type sums struct {
	later[*report.Stats]
	done, of atomic.Int64
}

// sumsOf gives the sums by a way to group them since a time.
func (s *Server) sumsOf(by, since string) *sums {
	s.statsMu.Lock()
	defer s.statsMu.Unlock()
	key := by + " " + since
	one := s.stats[key]
	if one == nil {
		if len(s.stats) >= 8 || s.stats == nil {
			s.stats = map[string]*sums{}
		}
		one = &sums{}
		s.stats[key] = one
	}
	return one
}

func (s *Server) statistics(w http.ResponseWriter, r *http.Request) {
	by, since := r.URL.Query().Get("by"), r.URL.Query().Get("since")
	p := statsPage{frame: s.frame(), By: cmp.Or(by, "repo"), Since: since}
	from, err := search.ParseMoment(since, time.Now())
	if err != nil || !slices.Contains(report.StatsBy, p.By) {
		http.Error(w, "by= is one of "+strings.Join(report.StatsBy, ", ")+"; since= is an age as 7d, or a day", http.StatusBadRequest)
		return
	}
	one := s.sumsOf(p.By, since)
	stats, at, err := one.get(statsFresh, waitFor, func() (*report.Stats, error) {
		s.adding.Lock() // one at a time: it takes what the machine has
		defer s.adding.Unlock()
		source := s.source
		source.Progress = func(done, of int) { one.done.Store(int64(done)); one.of.Store(int64(of)) }
		return source.Stats(p.By, from), nil
	})
	if err != nil {
		s.refuse(w, err)
		return
	}
	if p.Stats, p.AsOf = stats, clock(at); stats == nil {
		w.Header().Set("Refresh", "1")
		p.Done, p.Of = int(one.done.Load()), int(one.of.Load())
	}
	write(w, p.document().Render)
}

// cache keeps a value for a while. One caller makes it, others wait.
type cache[T any] struct {
	mu    sync.Mutex
	value T
	at    time.Time
}

func (c *cache[T]) get(fresh time.Duration, make func() (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.IsZero() && time.Since(c.at) < fresh {
		return c.value, nil
	}
	v, err := make()
	if err == nil {
		c.value, c.at = v, time.Now()
	}
	return v, err
}
