package main

import (
	"fmt"
	"strconv"
	"time"

	"agent/llm"
	"agent/llm/llmtest"
)

// measured is what one run of the agent took.
type measured struct {
	first, wall float64   // ms to the first request, s
	gaps        []float64 // ms from an answer to the next request, one per step
	peak        float64   // MiB at the last request
	sync        float64   // ms of a raw sync, before and after
	own         float64   // ms of its own syncs, median; 0 where they were not measured
	sent        float64   // MB of the last request
	served      float64   // ms that the model's server took for the answer before the last
	cpu         float64   // ms of the agent's processor time per step
}

// runs plays whole runs: the model answers at once, each answer is one call of
// read_file, then it says that it is done. A few turns that hold as many bytes as many turns tell
// what the number of turns costs from what it costs to send them.
func (b *bench) runs() error {
	for _, steps := range []int{50, b.steps} {
		all, err := b.playAgain(steps, readNote)
		if err != nil {
			return err
		}
		b.printRuns(steps, all)
		if steps == 50 {
			if err := b.ownSyncs(); err != nil {
				return err
			}
		}
	}
	long := b.steps * 1300 / longFile // a turn with a note has 1.3 KB
	all, err := b.playAgain(long+50, func(i int) llmtest.Reply {
		if i < long {
			return llmtest.ToolCall("workspace__read_file", map[string]any{"path": "long.txt", "start_line": i + 1})
		}
		return readNote(i)
	})
	if err != nil {
		return err
	}
	b.title("run of %d steps with as many bytes, median of %d runs", long+50, len(all))
	b.figure("the latest 50 answers to their next requests, median", medianOf(all, latest), "ms")
	b.figure("the last request", medianOf(all, func(m measured) float64 { return m.sent }), "MB")
	return nil
}

// ownSyncs plays with a build that notes how long its syncs take. A raw sync in a loop is faster: disk and processor
// do not rest between two, and nothing else was written.
func (b *bench) ownSyncs() error {
	timed, err := b.buildTagged("synctimes", "agent-synctimes")
	if err != nil {
		return err
	}
	b.timed = timed
	defer func() { b.timed = "" }()
	all, err := b.playAgain(50, readNote)
	if err != nil {
		return err
	}
	b.figure("its own fdatasync, median", medianOf(all, func(m measured) float64 { return m.own }), "ms")
	b.most("from an answer to the next request / 4 of its own", medianOf(all, func(m measured) float64 { return median(m.gaps) / (4 * m.own) }), "times", 3)
	return nil
}

func (b *bench) playAgain(steps int, script func(turn int) llmtest.Reply) (all []measured, err error) {
	const repeats = 5
	for range repeats {
		m, err := b.play(steps, script)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// sizeOf is how many bytes a request has.
func sizeOf(r llmtest.Request) float64 {
	n, err := strconv.ParseFloat(r.Header.Get("Content-Length"), 64)
	must(err)
	return n
}

func latest(m measured) float64 { return median(m.gaps[max(0, len(m.gaps)-50):]) }

func medianOf(all []measured, f func(measured) float64) float64 {
	var x []float64
	for _, m := range all {
		x = append(x, f(m))
	}
	return median(x)
}

func (b *bench) play(steps int, script func(turn int) llmtest.Reply) (m measured, err error) {
	var w *scene
	turns := -1
	w = b.newScene(func(_ int, r llmtest.Request) llmtest.Reply {
		w.Model.Forget()
		if len(r.Tools) == 0 {
			return llmtest.Text("The notes were read.")
		}
		turns++
		m.peak, m.sent, m.served = w.peak(), sizeOf(r)/1e6, w.watch.server().Seconds()*1000
		if turns == 0 {
			m.cpu = -w.worked() / float64(steps)
		} else {
			m.gaps = append(m.gaps, w.watch.last().Seconds()*1000)
		}
		if turns == steps {
			m.cpu += w.worked() / float64(steps)
			return llmtest.Text("I have read the notes.")
		}
		reply := script(turns)
		reply.Calls[0].ID, reply.Usage = fmt.Sprint("call_", turns), &llm.Usage{}
		return reply
	}, ", context_length: 100000000", llmtest.Skimming) // nothing is summarized, and the server takes no time
	defer w.close()
	m.sync = w.syncTime()
	start := time.Now()
	if err := finish(w.start()); err != nil {
		return m, err
	}
	m.wall = time.Since(start).Seconds()
	m.first = w.watch.begin().Sub(start).Seconds() * 1000
	m.sync = (m.sync + w.syncTime()) / 2
	m.own = w.ownSync()
	return m, nil
}

func (b *bench) printRuns(steps int, all []measured) {
	pick := func(f func(measured) float64) float64 { return medianOf(all, f) }
	var gaps []float64
	for _, m := range all {
		gaps = append(gaps, m.gaps...)
	}
	b.title("run of %d steps, median of %d runs", steps, len(all))
	b.most("from an answer to the next request, median", median(gaps), "ms", 3)
	b.figure("the same, 95th percentile", quantile(gaps, 0.95), "ms")
	b.figure("raw fdatasync at that time (a step has 4)", pick(func(m measured) float64 { return m.sync }), "ms")
	b.figure("from an answer to the next request / 4 raw fdatasync", pick(func(m measured) float64 { return median(m.gaps) / (4 * m.sync) }), "times")
	b.figure("the latest 50 answers to their next requests, median", pick(latest), "ms")
	b.most("processor time of the agent in a step", pick(func(m measured) float64 { return m.cpu }), "ms", map[bool]float64{true: 1.5, false: 2}[steps == 50])
	b.most("start to the first request", pick(func(m measured) float64 { return m.first }), "ms", 150)
	b.figure("the last request", pick(func(m measured) float64 { return m.sent }), "MB")
	b.figure("the model's server, from all of a request to its answer", pick(func(m measured) float64 { return m.served }), "ms")
	b.figure("whole run", pick(func(m measured) float64 { return m.wall }), "s")
	if peak := pick(func(m measured) float64 { return m.peak }); steps == 50 {
		b.most("peak memory of the agent", peak, "MiB", 32)
	} else {
		b.most("peak memory of the agent", peak, "MiB", 48)
	}
}
