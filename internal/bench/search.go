package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peer is a program that may not be installed.
type peer struct {
	name string
	argv []string
	also string // another program that it needs
	goal float64
}

// searches compares `agent search` with the programs that one would use instead:
// over logs, and over the same logs when half of them are archived.
func (b *bench) searches() error {
	agent, err := b.build(agentPackage, "agent")
	if err != nil {
		return err
	}
	dir, size, err := b.realStore()
	if err != nil {
		return err
	}
	store, done := openStore(dir)
	defer done()
	_, err = store.Heal(context.Background(), nil)
	must(err)
	ours := searcher("ours", size, agent, "search", needle, "--contexts", dir, "--config", b.offline())
	b.searchBeside(fmt.Sprintf("search in %d logs of %.0f MiB in all", realLogs, float64(size)/(1<<20)), max(b.rounds/5, 5), size, ours,
		peer{name: "ripgrep -j1", argv: []string{"rg", "-j1", "-F", needle, dir}, goal: 0.7},
		peer{name: "grep -F", argv: []string{"grep", "-rF", needle, dir}})
	for i := 0; i < realLogs; i += 2 {
		_, err := store.Archive(uuid(i))
		must(err)
	}
	b.searchBeside("search, half of the logs archived", 3, size, ours,
		peer{name: "ripgrep -j1 -z", argv: []string{"rg", "-j1", "-z", "-F", needle, dir}, also: "zstd"})
	return nil
}

func (b *bench) searchBeside(title string, rounds int, size int64, ours side, peers ...peer) {
	sides := []side{ours}
	for _, p := range peers {
		if p.missing() == "" {
			sides = append(sides, searcher(p.name, size, p.argv...))
		}
	}
	o := compare(rounds, childCPU, sides...)
	b.title("%s: MB/s of log and processor time", title)
	for _, s := range sides {
		b.figure(s.name, 1/o.seconds(s.name)/1e6, "")
	}
	for _, p := range peers {
		switch {
		case p.missing() != "":
			b.note(p.name, p.missing()+" is not installed")
		case p.goal > 0:
			b.least("ours / "+p.name, o.speed("ours", p.name), "times", p.goal)
		default:
			b.figure("ours / "+p.name, o.speed("ours", p.name), "times")
		}
	}
}

// missing names the program without which there is no such peer.
func (p *peer) missing() string {
	for _, name := range []string{p.argv[0], p.also} {
		if _, err := exec.LookPath(name); name != "" && err != nil {
			return name
		}
	}
	return ""
}

// searcher runs a program that must find the needle wherever it is.
func searcher(name string, size int64, argv ...string) side {
	return side{name, func() float64 {
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		if hits := bytes.Count(out, []byte("\n")); err != nil || hits != realLogs/500 {
			panic(fmt.Sprintf("%v: %d hits, %v", argv, hits, err))
		}
		return float64(size)
	}}
}

// offline is a configuration for commands that use no network.
func (b *bench) offline() string {
	name := filepath.Join(b.dir, "config.yaml")
	must(os.WriteFile(name, []byte("llm: {provider: ollama}\ngithub: {personal_access_token: t0, owner: o}\n"), 0o600))
	return name
}
