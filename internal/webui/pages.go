package webui

import (
	"bytes"
	_ "embed" // templates and the script
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/page"
	"agent/internal/report"
	"agent/internal/sanitize"
	"agent/internal/search"
	"agent/internal/watch"
)

var (
	//go:embed pages.tmpl
	source string
	//go:embed live.js
	liveJS string
)

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

func parse() (*template.Template, error) {
	return page.Templates().Funcs(template.FuncMap{"line": func(s string) string { return sanitize.Line(s, 300) }, "count": watch.Count, "usd": i18n.USD, "time": clock,
		"seconds": func(s float64) string { return watch.Duration(time.Duration(s * float64(time.Second))) }}).Parse(source)
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Local().Format("2006-01-02 15:04 MST")
}

// Frame is what all pages share.
type Frame struct {
	Lang i18n.Lang
}

// T is a text of the table.
func (f Frame) T(id i18n.ID, args ...any) string { return i18n.Text(f.Lang, id, args...) }

// Nav is what leads to the other pages.
func (s *Server) nav(here string) template.HTML {
	var b strings.Builder
	b.WriteString(`<nav class="crumbs">`)
	for _, l := range [][2]string{{"/", "ui.list"}, {"/stats", "ui.stats"}} {
		b.WriteString(`<a href="` + l[0] + `">` + template.HTMLEscapeString(i18n.Text(s.source.Lang, i18n.ID(l[1]))) + `</a>`)
	}
	return template.HTML(b.String() + "<span>" + template.HTMLEscapeString(here) + "</span></nav>")
}

func (s *Server) write(w http.ResponseWriter, name string, data any) {
	var out bytes.Buffer
	if err := s.pages.ExecuteTemplate(&out, name, data); err != nil {
		http.Error(w, "this page cannot be made: "+sanitize.Line(err.Error(), 300), http.StatusInternalServerError)
		return
	}
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

// listPage is a page of the list.
type listPage struct {
	Frame
	Nav                template.HTML
	Rows               []report.Listed
	Query, State, Repo string
	States             []string
	All, Fit, From, To int
	Before, After      string // addresses of the neighbouring pages
	Title              string
	Reading            bool // not all contexts are known yet
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
	p := listPage{Frame: Frame{Lang: s.source.Lang}, Nav: s.nav(""), Query: q.Get("q"), State: q.Get("state"), Repo: q.Get("repo"), States: report.States, All: len(all), Title: "agent", Reading: reading}
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
	s.write(w, "list", p)
}

// Ref is a task in few words.
func (p listPage) Ref(key string) string { return watch.Ref(key) }

// StateText is a state in words.
func (p listPage) StateText(state string) string { return i18n.State(p.Lang, state) }

// Standing is the state of a context, and what it waits for.
func (p listPage) Standing(l report.Listed) string {
	return i18n.Standing(p.Lang, sanitize.Line(l.State, 30), l.Waits, l.Partial)
}

// Age is how long ago something was.
func (p listPage) Age(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return report.Age(time.Since(t))
}

type statsPage struct {
	Frame
	Nav       template.HTML
	Title     string
	Stats     *report.Stats // nil: they are not there yet
	By, Since string
	Ways      []string
	Charts    []template.HTML
	AsOf      string
	Done, Of  int // logs that were read
	More      int // rows that are left out
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
	p := statsPage{Frame: Frame{Lang: s.source.Lang}, Nav: s.nav(""), By: by, Since: since, Ways: report.StatsBy, Title: "agent"}
	if p.By == "" {
		p.By = "repo"
	}
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
	} else {
		p.Charts = statCharts(p)
		p.More = max(len(stats.Rows)-mostStats, 0)
	}
	s.write(w, "stats", p)
}

// Rows are those of the table.
func (p statsPage) Rows() []report.StatsRow { return p.Stats.Rows[:len(p.Stats.Rows)-p.More] }

// statCharts draws outcomes, tokens, money and time.
func statCharts(p statsPage) []template.HTML {
	rows := p.Stats.Rows
	by := p.T(i18n.ID("stats.by." + p.By))
	ended := page.Chart{Title: p.T("ui.outcomes", by), Legend: [2]string{p.T("stats.completed"), p.T("ui.not.completed")}, None: "–"}
	used := page.Chart{Title: p.T("page.chart.tokens", by), Legend: [2]string{p.T("page.prompt"), p.T("page.output.tokens")}, None: "–"}
	paid := page.Chart{Title: p.T("page.chart.usd", by), None: p.T("money.none") + ": –"}
	took := page.Chart{Title: p.T("page.chart.time", by), None: "–"}
	var most [4]float64
	for _, l := range rows {
		name := sanitize.Line(l.Key, 100)
		bar := func(c *page.Chart, n int, text string, values ...float64) {
			b := page.Bar{Name: name, Text: name + ": " + text}
			copy(b.Values[:], values)
			c.Bars = append(c.Bars, b)
			if sum := b.Values[0] + b.Values[1]; sum > most[n] {
				most[n], c.Max = sum, text
			}
		}
		lost := l.Stopped + l.Failed
		bar(&ended, 0, strconv.Itoa(l.Completed)+" / "+strconv.Itoa(lost), float64(l.Completed), float64(lost))
		bar(&used, 1, watch.Count(l.Prompt+l.Completion), float64(l.Prompt), float64(l.Completion))
		bar(&paid, 2, i18n.USD(l.CostUSD)+" USD", l.CostUSD)
		bar(&took, 3, report.Age(time.Duration(l.Active*float64(time.Second))), l.Active)
	}
	return []template.HTML{ended.SVG(), used.SVG(), paid.SVG(), took.SVG()}
}

// Money is what a row cost: "–" if that is not known, + if it is known of a part.
func (p statsPage) Money(l report.StatsRow) string {
	text := i18n.USD(l.CostUSD)
	if l.CostUSD > 0 && l.Unpriced > 0 {
		text += "+"
	}
	return text
}

// Active is how long the agent worked.
func (p statsPage) Active(l report.StatsRow) string {
	return report.Age(time.Duration(l.Active * float64(time.Second)))
}

// Way is the name of a way to group.
func (p statsPage) Way(by string) string { return p.T(i18n.ID("stats.by." + by)) }

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
