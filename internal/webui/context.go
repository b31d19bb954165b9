package webui

import (
	"io/fs"
	"iter"
	"net/http"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"agent/contexts"
	"agent/internal/page"
	"agent/internal/report"
	"agent/internal/trees"
	"agent/internal/viewer"
)

const (
	largeLog   = 8 << 20   // bytes of a log of which only a part is read
	partBytes  = 300 << 10 // about how much
	partEvents = 250       // and of how many events at most
	leastPart  = 25
	partRows   = 600 // rows of a page
)

// links lead to the pages of this server.
type links struct{}

func (links) Event(uuid string, seq uint64) string {
	return "/c/" + uuid + "/e/" + strconv.FormatUint(seq, 10)
}

// found gives the context of a request; false if there is none, which was said.
func (s *Server) found(w http.ResponseWriter, r *http.Request, ref string) (string, bool) {
	uuid, err := s.source.Store.Find(ref)
	if err != nil {
		s.refuse(w, err)
		return "", false
	}
	return uuid, true
}

// of is what the page of a context is made from: of a large log the part that ends with
// the event until, 0 being the latest.
func (s *Server) of(uuid string, until uint64) (page.Source, error) {
	store := s.source.Store
	info, err := store.InfoUpTo(uuid, largeLog)
	if err != nil {
		return page.Source{}, err
	}
	info.State = report.StateOf(store, info)
	src := page.Source{Store: store, Info: info, Lang: s.source.Lang, Clean: s.clean, Rows: partRows, Until: until, Links: links{}}
	src.Files, _ = trees.Objects(store, uuid, s.clean) // nil: none are saved
	if size := s.size(uuid); size > largeLog {
		last := s.last(uuid)
		events := min(max(partBytes*last/uint64(size), leastPart), partEvents)
		if until > 0 {
			last = min(last, until)
		}
		src.From = max(last, events) - events + 1
	}
	return src, nil
}

// size is how long a log is, 0 if that is not known without reading it.
func (s *Server) size(uuid string) int64 {
	f, err := s.source.Store.Stream(uuid)
	if err != nil {
		return 0
	}
	defer f.Close()
	if file, ok := f.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := file.Stat(); err == nil {
			return info.Size()
		}
	}
	return 0
}

// last is the number of the latest event. It is found by bisection.
func (s *Server) last(uuid string) (seq uint64) {
	for range s.source.Store.LinesFrom(uuid, func(r contexts.Record) bool {
		seq = max(seq, r.Seq)
		return true
	}) {
	}
	return seq
}

func (s *Server) context(w http.ResponseWriter, r *http.Request) {
	uuid, ok := s.found(w, r, r.PathValue("uuid"))
	if !ok {
		return
	}
	until, _ := strconv.ParseUint(r.URL.Query().Get("until"), 10, 64)
	src, err := s.of(uuid, until)
	if err != nil {
		s.refuse(w, err)
		return
	}
	doc, err := page.Build(src)
	if err != nil {
		s.refuse(w, err)
		return
	}
	doc.Nav = g.Group{s.frame().nav(uuid[:8]), s.frame().beside(uuid)}
	if doc.Live {
		doc.Events = "/c/" + uuid + "/live?after=" + strconv.FormatUint(doc.Last, 10)
	}
	write(w, doc.Write)
}

// beside is a form that shows another context beside this one.
func (f frame) beside(uuid string) g.Node {
	return h.Form(h.Class("crumbs"), h.Action("/compare"), h.Input(h.Type("hidden"), h.Name("c"), h.Value(uuid)),
		h.Label(f.text("ui.beside"), g.Text(" "), h.Input(h.Type("text"), h.Name("c"), g.Attr("size", "10"), h.Required())),
		h.Button(f.text("ui.show")))
}

// event shows an event whole, with its intent or its outcome, and the files that changed.
func (s *Server) event(w http.ResponseWriter, r *http.Request) {
	uuid, ok := s.found(w, r, r.PathValue("uuid"))
	if !ok {
		return
	}
	seq, _ := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	pair, err := viewer.Pair(func(from uint64) iter.Seq2[contexts.Line, error] {
		return s.source.Store.LinesFrom(uuid, func(r contexts.Record) bool { return r.Seq < from })
	}, seq)
	if err != nil || seq == 0 {
		http.Error(w, "no such event", http.StatusNotFound)
		return
	}
	first, last := pair[0].Seq, pair[len(pair)-1].Seq
	src, err := s.of(uuid, 0)
	if err != nil {
		s.refuse(w, err)
		return
	}
	if src.Whole, src.Rows = true, 1<<20; src.From > 0 { // it is long: its steps are not counted, and the end of a pause is not known
		src.From, src.Until = first, last
	}
	doc, err := page.Build(src)
	if err != nil {
		s.refuse(w, err)
		return
	}
	back := h.P(h.Class("crumbs"), h.A(page.Href("/c/"+uuid), g.Text("← "+uuid[:8])))
	doc.Nav = g.Group{s.frame().nav(uuid[:8] + " · " + r.PathValue("seq")), back}
	doc.Only(first, last)
	write(w, doc.Write)
}

// compare shows two contexts beside each other.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	refs := r.URL.Query()["c"]
	if len(refs) != 2 {
		http.Error(w, s.frame().T("ui.two"), http.StatusBadRequest)
		return
	}
	var titles []string
	var columns g.Group
	for _, ref := range refs {
		uuid, ok := s.found(w, r, ref)
		if !ok {
			return
		}
		src, err := s.of(uuid, 0)
		if err != nil {
			s.refuse(w, err)
			return
		}
		src.Files = nil // what changed is on the pages of the events
		doc, err := page.Build(src)
		if err != nil {
			s.refuse(w, err)
			return
		}
		titles, columns = append(titles, doc.Title), append(columns, doc.Column("/c/"+uuid))
	}
	f := s.frame()
	write(w, f.page(strings.Join(titles, " | "), f.nav(""), h.Main(h.Class("beside"), columns)).Render)
}
