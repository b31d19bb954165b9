package main

import (
	"fmt"
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
	cpu         float64   // ms of the agent's processor time per step
}

// runs plays whole runs: the model answers at once, each answer is one call of
// read_file, then it says that it is done.
func (b *bench) runs() error {
	const repeats = 5
	for _, steps := range []int{50, b.steps} {
		var all []measured
		for range repeats {
			m, err := b.play(steps)
			if err != nil {
				return err
			}
			all = append(all, m)
		}
		b.printRuns(steps, all)
	}
	return nil
}

func (b *bench) play(steps int) (m measured, err error) {
	var w *scene
	turns := -1
	w = b.newScene(func(_ int, r llmtest.Request) llmtest.Reply {
		w.Model.Forget()
		if len(r.Tools) == 0 {
			return llmtest.Text("The notes were read.")
		}
		turns++
		m.peak = w.peak()
		if turns == 0 {
			m.cpu = -w.worked() / float64(steps)
		} else {
			m.gaps = append(m.gaps, w.watch.last().Seconds()*1000)
		}
		if turns == steps {
			m.cpu += w.worked() / float64(steps)
			return llmtest.Text("I have read the notes.")
		}
		reply := readNote(turns)
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
	return m, nil
}

func (b *bench) printRuns(steps int, all []measured) {
	pick := func(f func(measured) float64) float64 {
		var x []float64
		for _, m := range all {
			x = append(x, f(m))
		}
		return median(x)
	}
	var gaps []float64
	for _, m := range all {
		gaps = append(gaps, m.gaps...)
	}
	b.title("run of %d steps, median of %d runs", steps, len(all))
	b.most("from an answer to the next request, median", median(gaps), "ms", 3)
	b.figure("the same, 95th percentile", quantile(gaps, 0.95), "ms")
	b.figure("raw fdatasync at that time (a step has 4)", pick(func(m measured) float64 { return m.sync }), "ms")
	b.most("from an answer to the next request / 4 raw fdatasync", pick(func(m measured) float64 { return median(m.gaps) / (4 * m.sync) }), "times", 3)
	b.figure("the latest 50 answers to their next requests, median", pick(func(m measured) float64 { return median(m.gaps[max(0, len(m.gaps)-50):]) }), "ms")
	b.most("processor time of the agent in a step", pick(func(m measured) float64 { return m.cpu }), "ms", map[bool]float64{true: 1.5, false: 2}[steps == 50])
	b.most("start to the first request", pick(func(m measured) float64 { return m.first }), "ms", 150)
	b.figure("whole run", pick(func(m measured) float64 { return m.wall }), "s")
	if peak := pick(func(m measured) float64 { return m.peak }); steps == 50 {
		b.most("peak memory of the agent", peak, "MiB", 32)
	} else {
		b.most("peak memory of the agent", peak, "MiB", 48)
	}
}
