package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"agent/contexts"
	"agent/eventlog/event"
	"agent/handlers/engine"
	"agent/internal/fsx"
	"agent/llm/llmtest"
	"agent/projections"
)

// end is what came of a task, as far as it may not depend on crashes.
type end struct {
	Comments  []string
	Labels    []string
	Status    string
	Summary   string
	Files     map[string]string
	Published map[string]map[string]string
	Changes   []string
	Plan      string // in planning mode

	exact    []string // comments with their numbers
	counts   counts
	requests int // to the model
}

// counts are numbers from a log.
type counts struct {
	model, tools, lostReplies, lostCalls int
}

var (
	marker  = regexp.MustCompile(`\n\n<!-- agent op=([0-9a-f:-]+) mac=[0-9a-f]+ -->$`)
	numbers = regexp.MustCompile(`[0-9]+`)
	over    = regexp.MustCompile(`(?s)(: 🤖 )\*\*[^\n]*(.*)Model calls: [0-9]+ · tool calls: [0-9]+$`) // a comment on progress: its last edit may be given up
	hashed  = regexp.MustCompile("([ `])[0-9a-f]{12}`")                                               // of a plan: it holds the name of the context
	head    = regexp.MustCompile("--head ([0-9]+):([0-9a-f]{64})`")
)

// checkHeads wants every last word to name the hash that its line in the log has.
func (w *world) checkHeads() (problems error) {
	lines, named := bytes.Split(logBytes(w.disk), []byte("\n")), 0
	for _, c := range w.forge.Comments(w.place(), 1) {
		for _, m := range head.FindAllStringSubmatch(c.Body, -1) {
			named++
			n, _ := strconv.Atoi(m[1])
			if n >= len(lines) || fmt.Sprintf("%x", sha256.Sum256(lines[n-1])) != m[2] {
				problems = errors.Join(problems, fmt.Errorf("%s is not the log's", m[0]))
			}
		}
	}
	if named == 0 {
		problems = errors.Join(problems, errors.New("no hash of the log is named"))
	}
	return problems
}

// neutral takes out of a text what differs between two runs in any case.
func (w *world) neutral(text, id string) string {
	return strings.NewReplacer(id, "UUID", id[:8], "UUID8", w.forge.Host(), "HOST").Replace(over.ReplaceAllString(hashed.ReplaceAllString(head.ReplaceAllString(text, "HEAD"), "${1}HASH`"), "$1$2"))
}

// verify looks at a world in which the task must have come to its end, and says
// what is wrong with it. It returns what came of the task.
func (w *world) verify() (end, error) {
	var got end
	store, err := contexts.Open(w.disk, contexts.Options{})
	if err != nil {
		return got, err
	}
	id, err := only(store)
	if err != nil {
		return got, err
	}
	var log []event.Event
	report, err := engine.Replay(func(yield func(event.Event, error) bool) {
		for ev, err := range store.Events(id) {
			log = append(log, ev)
			if !yield(ev, err) {
				return
			}
		}
	})
	if err != nil {
		return got, err
	}
	for _, d := range report.Differences {
		err = errors.Join(err, fmt.Errorf("seq %d was %s, today %s", d.Seq, d.Recorded, d.Decided))
	}
	got = w.end(id, log)
	got.Status, got.requests = string(report.State.Status), len(w.model.Requests())
	got.Plan = planEnd(report.State)
	return got, errors.Join(err, checkFiles(store, id, report), w.checkOps(id, log), w.checkTools(got, log), w.checkAcknowledged(log), w.checkHeads(), w.checkLedger(store, log))
}

// checkLedger wants every call of the log in the ledger of its day.
func (w *world) checkLedger(store *contexts.Store, log []event.Event) (problems error) {
	if w.dark {
		return nil
	}
	var spending contexts.Spending
	want := map[string]int{}
	for _, ev := range log {
		if tokens, _, ok := spending.Of(ev); ok {
			want[contexts.Day(ev.Time)] += tokens
		}
	}
	for day, tokens := range want {
		if got, _, err := store.Spent(day); err != nil || got != tokens {
			problems = errors.Join(problems, fmt.Errorf("the ledger of %s holds %d tokens, the log %d: %v", day, got, tokens, err))
		}
	}
	return problems
}

// only gives the one context, which must be where ended ones are.
func only(store *contexts.Store) (string, error) {
	var found []contexts.Entry
	for e, err := range store.List() {
		if err != nil {
			return "", err
		}
		found = append(found, e)
	}
	if len(found) != 1 || found[0].Dir != contexts.Completed {
		return "", fmt.Errorf("contexts are %v", found)
	}
	return found[0].UUID, nil
}

func (w *world) end(id string, log []event.Event) end {
	e := end{Labels: w.forge.Labels(w.place(), 1), Files: w.files(), Published: map[string]map[string]string{}}
	slices.Sort(e.Labels)
	for branch, files := range w.published {
		e.Published[w.neutral(branch, id)] = files
	}
	for _, c := range w.forge.Comments(w.place(), 1) {
		text := w.neutral(c.Author+": "+marker.ReplaceAllString(c.Body, ""), id)
		e.exact = append(e.exact, text)
		e.Comments = append(e.Comments, numbers.ReplaceAllString(text, "N"))
	}
	for _, c := range w.changes() {
		e.Changes = append(e.Changes, w.neutral(c, id))
	}
	for _, ev := range log {
		e.count(w, id, ev.Body)
	}
	return e
}

// changes lists the pull requests that stand on the forge.
func (w *world) changes() (list []string) {
	request, err := http.NewRequest(http.MethodGet, w.forge.URL()+"/repos/"+w.place()+"/pulls?state=all", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := w.wire.RoundTrip(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	var pulls []struct {
		Title, Body string
		Head        struct{ Ref string }
	}
	if err := json.NewDecoder(response.Body).Decode(&pulls); err != nil {
		w.t.Fatal(err)
	}
	for _, p := range pulls {
		list = append(list, p.Head.Ref+"\n"+p.Title+"\n"+p.Body)
	}
	return list
}

func (e *end) count(w *world, id string, body event.Body) {
	switch b := body.(type) {
	case *event.LLMRequested:
		e.counts.model++
	case *event.ToolRequested:
		e.counts.tools++
	case *event.LLMFailed:
		e.counts.lostReplies++
	case *event.ToolInterrupted:
		e.counts.lostCalls++
	case *event.SummaryAdded:
		text, _, _ := strings.Cut(b.Text.View(), "\n- files/")
		e.Summary += w.neutral(text, id)
	}
}

// checkFiles holds the projection files against those that the log gives.
func checkFiles(store *contexts.Store, id string, report engine.Report) (problems error) {
	for _, name := range projections.FileNames(id) {
		data, err := store.ReadFile(id, name)
		if want := report.Files[name]; !bytes.Equal(data, want) {
			problems = errors.Join(problems, fmt.Errorf("%s has %d bytes, a rebuild %d (%v)", name, len(data), len(want), err))
		}
	}
	return problems
}

// checkOps wants one comment for each op, and no op that the log does not know.
func (w *world) checkOps(id string, log []event.Event) (problems error) {
	found := map[string]int{}
	for _, c := range w.forge.Comments(w.place(), 1) {
		if m := marker.FindStringSubmatch(c.Body); m != nil {
			found[m[1]]++
		} else if c.Author == bot {
			problems = errors.Join(problems, fmt.Errorf("a comment has no marker: %q", c.Body))
		}
	}
	// An edited comment carries the op of its latest edit.
	ops, wanted := map[string]string{}, map[string]bool{}
	var open *event.CommentRequested
	var seq uint64
	for _, ev := range log {
		switch b := ev.Body.(type) {
		case *event.CommentRequested:
			open, seq = b, ev.Seq
		case *event.CommentPosted:
			op := fmt.Sprintf("%s:%d", id, seq)
			if open.Edit != "" {
				delete(wanted, ops[open.Edit])
			}
			ops[b.ID], wanted[op] = op, true
		}
	}
	for op := range wanted {
		if found[op] != 1 {
			problems = errors.Join(problems, fmt.Errorf("%d comments of %s", found[op], op))
		}
		delete(found, op)
	}
	if len(found) > 0 {
		problems = errors.Join(problems, fmt.Errorf("comments that the log does not know: %v", found))
	}
	return problems
}

// checkTools wants no call executed more often than it was asked for, and that
// the model was told of every call that may have happened.
func (w *world) checkTools(e end, log []event.Event) (problems error) {
	asked := map[string]int{}
	for _, ev := range log {
		if b, ok := ev.Body.(*event.ToolRequested); ok {
			path, _, _ := strings.Cut(strings.TrimPrefix(b.Args.View(), `{"path":"`), `"`)
			asked[b.Tool+" "+path]++
		}
	}
	for call, n := range w.runs {
		if n > asked[call] {
			problems = errors.Join(problems, fmt.Errorf("%s ran %d times and was asked for %d times", call, n, asked[call]))
		}
	}
	told := 0
	for _, r := range resultsOf(w.lastWork()) {
		if strings.HasPrefix(r.text, "interrupted") {
			told++
		}
	}
	if told != e.counts.lostCalls {
		problems = errors.Join(problems, fmt.Errorf("%d calls were interrupted, the model knows of %d", e.counts.lostCalls, told))
	}
	return problems
}

// lastWork is the latest request that could have made the model act.
func (w *world) lastWork() (last llmtest.Request) {
	for _, r := range w.model.Requests() {
		if len(r.Tools) > 0 {
			last = r
		}
	}
	return last
}

func (w *world) checkAcknowledged(log []event.Event) error {
	if uint64(len(log)) < w.acked {
		return fmt.Errorf("the log has %d events, %d were acknowledged", len(log), w.acked)
	}
	return nil
}

// written is the list of files that calls are known to have written. A call that
// was interrupted is not known to have done so.
var written = regexp.MustCompile("(?m)^(- )?Files written: .*\n")

func (e end) withoutFiles() end {
	e.Comments = slices.Clone(e.Comments)
	for i, c := range e.Comments {
		e.Comments[i] = written.ReplaceAllString(c, "")
	}
	e.Summary = written.ReplaceAllString(e.Summary, "")
	return e
}

// compare holds an end against that of the undisturbed run.
func (e end) compare(want end) error {
	if e.counts.lostCalls > 0 {
		e, want = e.withoutFiles(), want.withoutFiles()
	}
	if d := cmp.Diff(want, e, cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".exact" || name == ".counts" || name == ".requests"
	}, cmp.Ignore())); d != "" {
		return errors.New("not as undisturbed (-want +got):\n" + d)
	}
	got, ref := e.counts, want.counts
	if extra := got.tools - ref.tools; got.model-ref.model != extra+got.lostReplies || extra > 2*got.lostCalls {
		return fmt.Errorf("counted %+v, undisturbed %+v", got, ref)
	}
	if got.lostReplies+got.lostCalls == 0 {
		if d := cmp.Diff(want.exact, e.exact); d != "" {
			return errors.New("comments are not as undisturbed (-want +got):\n" + d)
		}
	}
	return nil
}

// logBytes reads the only log of a disk as it lies there, nil if there is none.
func logBytes(disk fsx.FS) []byte {
	for _, place := range contexts.Dirs {
		entries, err := disk.ReadDir(string(place))
		if err != nil {
			return nil
		}
		for _, entry := range entries {
			data, err := fsx.ReadFile(disk, string(place)+"/"+entry.Name()+"/events.jsonl", 1<<30)
			if err == nil {
				return data
			}
		}
	}
	return nil
}
