package webui

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"agent/contexts"
	"agent/internal/i18n"
	"agent/internal/page"
	"agent/internal/report"
	"agent/internal/timeline"
)

const (
	again    = 500 * time.Millisecond // a log that is watched is looked at so often
	ping     = 15 * time.Second
	patience = 10 * time.Second // for a watcher who does not read
	queue    = 256              // messages that wait for a watcher
	kept     = 1000             // messages for watchers who come back
	lookBack = 200              // events before the first that is told: intents of outcomes
	idleEnd  = 30 * time.Second // a log that nobody watches any more
)

// message is one event of the stream.
type message struct {
	seq  uint64
	text string
}

// hub reads one log for all who watch it.
type hub struct {
	s      *Server
	uuid   string
	rows   timeline.Timeline
	from   uint64 // later events are told
	last   uint64
	state  string
	missed int // how often it was not found
	size   int64
	mu     sync.Mutex
	kept   []message
	all    map[chan message]bool
	over   bool
	nobody time.Time // since when nobody watches
}

// hubs are the logs that are watched.
type hubs struct {
	server *Server
	mu     sync.Mutex
	all    map[string]*hub
	n      int // watchers
}

var errCrowded = errors.New("too many watchers")

// join begins to watch a log behind an event.
func (h *hubs) join(uuid string, after uint64) (*hub, chan message, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n >= mostWatchers {
		return nil, nil, errCrowded
	}
	if h.all == nil {
		h.all = map[string]*hub{}
	}
	one := h.all[uuid]
	if one == nil {
		one = &hub{s: h.server, uuid: uuid, from: after, last: max(after, lookBack) - lookBack, all: map[chan message]bool{}}
		one.rows.Clean, one.rows.Lang = h.server.clean, h.server.source.Lang
		h.all[uuid] = one
		go h.follow(one)
	}
	h.n++
	return one, one.join(after), nil
}

func (h *hubs) leave(one *hub, ch chan message) {
	h.mu.Lock()
	h.n--
	h.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	delete(one.all, ch)
	one.nobody = time.Now()
}

// follow reads a log until it ends, or nobody has watched it for a while.
func (h *hubs) follow(one *hub) {
	for !one.read() {
		time.Sleep(again)
		h.mu.Lock()
		one.mu.Lock()
		if one.idle() {
			one.over = true
			delete(h.all, one.uuid)
		}
		done := one.over
		one.mu.Unlock()
		h.mu.Unlock()
		if done {
			return
		}
	}
	h.mu.Lock()
	delete(h.all, one.uuid)
	h.mu.Unlock()
}

func (one *hub) idle() bool {
	return len(one.all) == 0 && !one.nobody.IsZero() && time.Since(one.nobody) > idleEnd
}

// join gives what the watcher has not seen, and what comes.
func (one *hub) join(after uint64) chan message {
	one.mu.Lock()
	defer one.mu.Unlock()
	ch := make(chan message, kept+queue)
	if after < one.from || len(one.kept) == kept && one.kept[0].seq > after {
		ch <- message{text: "event: reload\ndata: {}\n\n"}
	}
	for _, m := range one.kept {
		if m.seq > after {
			ch <- m
		}
	}
	one.all[ch] = true
	if one.over {
		close(ch)
		delete(one.all, ch)
	}
	return ch
}

// tell gives a message to all. A watcher who does not keep up is sent away, and comes back.
func (one *hub) tell(m message) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.kept = append(one.kept, m); len(one.kept) > kept {
		one.kept = one.kept[len(one.kept)-kept:]
	}
	for ch := range one.all {
		select {
		case ch <- m:
		default:
			close(ch)
			delete(one.all, ch)
		}
	}
}

// read tells what is new in the log, and whether the context has ended.
func (one *hub) read() bool {
	if size := one.s.size(one.uuid); size > 0 && size == one.size {
		one.status()
		return false
	} else {
		one.size = size
	}
	after := one.last
	for line, err := range one.s.source.Store.LinesFrom(one.uuid, func(r contexts.Record) bool { return r.Seq <= after }) {
		if contexts.IsGone(err) {
			return one.removed()
		}
		if err != nil || line.Err != nil || line.Record.Line == nil {
			one.size = 0 // torn: it is being written
			break
		}
		r := line.Record
		if r.Seq <= one.last {
			continue
		}
		changed := one.rows.Add(r)
		if one.last = r.Seq; r.Seq <= one.from {
			continue
		}
		for _, seq := range changed {
			if row := one.rows.Row(seq); row != nil {
				one.tell(message{r.Seq, one.s.rowMessage(one.uuid, r.Seq, *row)})
			}
		}
	}
	one.missed = 0
	one.status()
	return one.rows.Over() && one.end()
}

// removed tells that the context is gone. It is looked for twice: it may be about to move.
func (one *hub) removed() bool {
	if one.missed++; one.missed < 2 {
		return false
	}
	one.says("removed", i18n.Text(one.s.source.Lang, "ui.removed"), "")
	return one.end()
}

// end is the last thing that watchers get.
func (one *hub) end() bool {
	one.tell(message{one.last + 1, "event: end\ndata: {}\n\n"})
	one.mu.Lock()
	defer one.mu.Unlock()
	one.over = true
	for ch := range one.all {
		close(ch)
	}
	clear(one.all)
	return true
}

// status tells the state and what it waits for, if that is another than before.
func (one *hub) status() {
	state := report.StateOf(one.s.source.Store, contexts.Info{UUID: one.uuid, State: one.rows.Status})
	if one.rows.Status == "" { // the part that was read does not say
		state = ""
	}
	lang := one.s.source.Lang
	waits := ""
	if w, ok := one.rows.Waiting(); ok {
		waits = i18n.Text(lang, i18n.ID("page.waits."+w.For), w.What)
	}
	one.says(state, i18n.State(lang, state), waits)
}

func (one *hub) says(state, words, waits string) {
	data, _ := json.Marshal(map[string]string{"state": state, "text": words, "waits": waits})
	if text := "event: state\ndata: " + string(data) + "\n\n"; text != one.state {
		one.state = text
		one.tell(message{one.last, text})
	}
}

// rowMessage is a row as the page shows it.
func (s *Server) rowMessage(uuid string, id uint64, r timeline.Row) string {
	doc := &page.Doc{Lang: s.source.Lang, UUID: uuid}
	var html strings.Builder
	_ = page.LiveRow(doc, r, links{}).Render(&html) // memory takes it
	data, _ := json.Marshal(map[string]string{"id": fmt.Sprintf("e%d", r.Seq), "html": html.String()})
	return fmt.Sprintf("id: %d\nevent: row\ndata: %s\n\n", id, data)
}

// live tells of new rows as server-sent events.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	uuid, ok := s.found(w, r, r.PathValue("uuid"))
	if !ok {
		return
	}
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	if id, err := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		after = max(after, id)
	}
	one, ch, err := s.hubs.join(uuid, after)
	if err != nil {
		w.Header().Set("Retry-After", "30")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer s.hubs.leave(one, ch)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // best effort, as the next: a recorder in a test has none
	beat := time.NewTicker(ping)
	defer beat.Stop()
	for text := "retry: 2000\n\n"; ; {
		_ = out.SetWriteDeadline(time.Now().Add(patience))
		if _, err := w.Write([]byte(text)); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			text = ": \n\n"
		case m, ok := <-ch:
			if !ok {
				return
			}
			text = m.text
		}
	}
}
