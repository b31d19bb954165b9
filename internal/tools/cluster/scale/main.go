// Command scale reckons what a cluster of many workers asks of its NATS servers, and prints
// the tables of docs/scale.md. It is arithmetic on measured figures: see [measured].
package main

import (
	"fmt"
	"io"
	"os"
)

// costs are what one task and one message cost.
type costs struct {
	lines       float64 // of the log of a task
	lineBytes   float64 // of a line on its way to a follower
	storedBytes float64 // of a task in the history, with headers
	objects     float64 // large texts and packs of saved files of a task
	objectBytes float64
	logBytes    float64 // of a task's log on a worker's disk
	locks       float64 // changes of locks
	keys        float64 // other changes of keys
	queue       float64 // messages to the queue
	reads       float64 // requests that only read
	session     float64 // bytes of a session's key on its way
	lock        float64 // bytes of a lock's key on its way

	append, deliver, renew float64 // µs of processors, of all three servers
	rate                   float64 // appends a second that one stream took
}

// measured is from two tasks of `agent demo`, imported into a cluster of three servers, from
// one go of such a task on a real server, and from TestCosts.
var measured = costs{
	lines: 53, lineBytes: 858, storedBytes: 45445, objects: 2.5, objectBytes: 1739, logBytes: 38240,
	locks: 4, keys: 1, queue: 3, reads: 25, session: 260, lock: 241,
	append: 66, deliver: 9.5, renew: 109, rate: 8746,
}

// times makes tasks larger. Locks and the queue do not grow with them.
func (c costs) times(n float64) costs {
	c.lines, c.storedBytes, c.objects, c.objectBytes, c.logBytes = n*c.lines, n*c.storedBytes, n*c.objects, n*c.objectBytes, n*c.logBytes
	return c
}

// load is what is asked of the servers each second.
type load struct {
	appends, objects, keys, reads float64
	renewals                      float64
	sessions, locks, follow       float64 // messages to all who watch or follow
	out                           float64 // bytes to them
	cores                         float64
	nodeDay, workerDay            float64 // bytes kept, a day
}

const day = 24 * 60 * 60

func (c costs) load(workers, tasks, lease float64) (l load) {
	each := tasks / day
	l.appends, l.objects, l.keys, l.reads = each*c.lines, each*c.objects, each*(c.locks+c.keys+c.queue), each*c.reads
	l.renewals = 3 * workers / lease
	l.sessions, l.locks, l.follow = workers*l.renewals, workers*each*c.locks, workers*l.appends
	l.out = l.sessions*c.session + l.locks*c.lock + l.follow*c.lineBytes
	l.cores = ((l.appends+l.objects+l.keys)*c.append + l.renewals*c.renew + (l.sessions+l.locks+l.follow+l.reads)*c.deliver) / 1e6
	l.nodeDay, l.workerDay = tasks*(c.storedBytes+c.objectBytes), tasks*c.logBytes
	return l
}

// most is how many workers a number of cores serves, with as many tasks for each.
func (c costs) most(cores, tasksEach, lease float64) (workers int) {
	for c.load(float64(workers+1), tasksEach*float64(workers+1), lease).cores <= cores {
		workers++
	}
	return workers
}

func main() { report(os.Stdout) }

func report(w io.Writer) {
	small, large := measured, measured.times(10)
	columns := []load{small.load(100, 10_000, 10), small.load(1000, 100_000, 10), small.load(1000, 100_000, 60), large.load(1000, 100_000, 60)}
	fmt.Fprint(w, "| | 100 workers, 10,000 tasks a day | 1,000 workers, 100,000 tasks | the same, `lease_seconds: 60` | and tasks ten times as large |\n|---|---|---|---|---|\n")
	row := func(name, format string, value func(load) float64) {
		fmt.Fprintf(w, "| %s |", name)
		for _, l := range columns {
			fmt.Fprintf(w, " "+format+" |", value(l))
		}
		fmt.Fprintln(w)
	}
	row("appends to the history /s", "%.0f", func(l load) float64 { return l.appends })
	row("part of what one stream took", "%.1f %%", func(l load) float64 { return 100 * l.appends / measured.rate })
	row("objects /s", "%.1f", func(l load) float64 { return l.objects })
	row("locks, keys and jobs /s", "%.1f", func(l load) float64 { return l.keys })
	row("reads /s", "%.0f", func(l load) float64 { return l.reads })
	row("renewals of sessions /s", "%.0f", func(l load) float64 { return l.renewals })
	row("messages to those who watch sessions /s", "%.0f", func(l load) float64 { return l.sessions })
	row("messages to those who watch locks /s", "%.0f", func(l load) float64 { return l.locks })
	row("lines to those who follow /s", "%.0f", func(l load) float64 { return l.follow })
	row("from the servers, MB/s", "%.1f", func(l load) float64 { return l.out / 1e6 })
	row("to each worker, kB/s", "%.0f", func(l load) float64 {
		return l.follow*measured.lineBytes/1e3/workersOf(l) + l.sessions*measured.session/1e3/workersOf(l)
	})
	row("cores, all three servers", "%.1f", func(l load) float64 { return l.cores })
	row("kept on each node, GB a day", "%.1f", func(l load) float64 { return l.nodeDay / 1e9 })
	row("kept on each worker, GB a day", "%.1f", func(l load) float64 { return l.workerDay / 1e9 })

	fmt.Fprint(w, "\nMost workers that three nodes serve, with 100 tasks a day each:\n\n| cores of all nodes | `lease_seconds: 10` | `lease_seconds: 60` | 60, tasks ten times as large |\n|---|---|---|---|\n")
	for _, cores := range []float64{3, 12, 24} {
		fmt.Fprintf(w, "| %.0f | %d | %d | %d |\n", cores, small.most(cores, 100, 10), small.most(cores, 100, 60), large.most(cores, 100, 60))
	}
}

func workersOf(l load) float64 { return l.follow / l.appends }
