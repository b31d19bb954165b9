package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"agent/internal/world"
	"agent/llm/llmtest"
)

// first measures, by turns, how long it takes from the start of `agent run` to its first
// request with a conversation, a plain clone of the same repository over HTTP, and a run that finds
// nothing to do. The agent has worked on another item before, as on any day but the first.
func (b *bench) first() error {
	agent, err := b.build(agentPackage, "agent")
	if err != nil {
		return err
	}
	idle := b.httpScene(agent, func() {})
	defer idle.close()
	var clones, firsts, nothings, ratios []float64
	for n := range max(b.rounds/5, 7) {
		var asked time.Time
		busy := b.httpScene(agent, func() { asked = time.Now() })
		clone := timed(func() { cloneOverHTTP(busy.World) })
		var start time.Time
		for range 2 {
			busy.Forge.Open("Read the notes", "Please read the notes.")
			start = time.Now()
			if err := finish(busy.start()); err != nil {
				return err
			}
		}
		first := asked.Sub(start).Seconds() * 1000
		busy.close()
		nothing := timed(func() { must(finish(idle.start())) })
		if n > 0 { // caches are cold in the first round
			clones, firsts, nothings, ratios = append(clones, clone), append(firsts, first), append(nothings, nothing), append(ratios, first/clone)
		}
	}
	b.title("start of agent run, the repository is cloned over HTTP: ms")
	b.figure("git clone --depth 1", median(clones), "")
	b.figure("start to the first request with a conversation", median(firsts), "")
	b.most("that / git clone", median(ratios), "times", 2.5)
	b.most("agent run with nothing to do, with its requests to the forge", median(nothings), "", 60)
	return nil
}

// httpScene is a scene whose model says at once that it is done.
func (b *bench) httpScene(agent string, asked func()) *scene {
	dir, err := os.MkdirTemp(b.dir, "world-")
	must(err)
	s := &scene{agent: agent}
	s.World, err = world.New(world.Options{Dir: dir, Files: notes(), Model: llmtest.New(func(_ int, r llmtest.Request) llmtest.Reply {
		if len(r.Tools) > 0 {
			asked()
		}
		return llmtest.Text("I have read the notes.")
	})})
	must(err)
	return s
}

func timed(do func()) (ms float64) {
	start := time.Now()
	do()
	return time.Since(start).Seconds() * 1000
}

func cloneOverHTTP(w *world.World) {
	dir, url := filepath.Join(w.Dir, "a-clone"), "http://"+w.Forge.Host()+"/demo/sum.git"
	cmd := exec.Command("git", "-c", "http.extraHeader=Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("x-access-token:"+world.Token)),
		"clone", "--quiet", "--depth", "1", url, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("git clone: %v\n%s", err, out))
	}
	must(os.RemoveAll(dir))
}
