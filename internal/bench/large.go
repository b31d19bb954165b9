package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"agent/llm/llmtest"
)

// largeFiles is how many files the repository of the section large has.
const largeFiles = 15_000

// large measures the tool search beside git grep, both with a warm cache of the disk.
func (b *bench) large() error {
	agent, err := b.build(agentPackage, "agent")
	if err != nil {
		return err
	}
	return b.largeSearch(agent)
}

// greps are searches as models make them, each with what git grep is asked for instead.
var greps = []struct {
	name string
	args map[string]any
	git  []string
}{
	{"a word in one file", map[string]any{"pattern": "file number 14001"}, []string{"-e", "file number 14001"}},
	{"a word in every file", map[string]any{"pattern": "context"}, []string{"-e", "context"}},
	{"a pattern, any case", map[string]any{"pattern": "FILE number 1400[0-9]$", "ignore_case": true}, []string{"-i", "-E", "-e", "FILE number 1400[0-9]$"}},
	{"nothing", map[string]any{"pattern": "nowhere to be found"}, []string{"-e", "nowhere to be found"}},
	{"a word in a directory", map[string]any{"pattern": "default", "path": "pkg07"}, []string{"-e", "default", "--", "pkg07"}},
}

// tools is the built-in tool server, which is spoken to over its own streams.
type tools struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func startTools(agent, dir string) *tools {
	t := &tools{cmd: exec.Command(agent, "mcp", "workspace", "--root", dir)}
	var err error
	t.in, err = t.cmd.StdinPipe()
	must(err)
	out, err := t.cmd.StdoutPipe()
	must(err)
	t.out = bufio.NewReader(out)
	must(t.cmd.Start())
	t.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}})
	return t
}

func (t *tools) close() {
	_ = t.in.Close()
	_ = t.cmd.Wait()
}

func (t *tools) call(name string, args map[string]any) {
	answer := t.ask("tools/call", map[string]any{"name": name, "arguments": args})
	if bytes.Contains(answer, []byte(`"isError":true`)) || !bytes.Contains(answer, []byte(`"content"`)) {
		panic(fmt.Sprintf("%s %v: %.500s", name, args, answer))
	}
}

func (t *tools) ask(method string, params map[string]any) []byte {
	t.id++
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": t.id, "method": method, "params": params})
	must(err)
	_, err = t.in.Write(append(request, '\n'))
	must(err)
	answer, err := t.out.ReadBytes('\n')
	must(err)
	return answer
}

func (b *bench) largeSearch(agent string) error {
	w := b.newScene(llmtest.Always(llmtest.Text("")), "")
	defer w.close()
	w.addFiles(largeFiles)
	server := startTools(agent, w.Path("work"))
	defer server.close()
	for _, g := range greps {
		ours := func() float64 { server.call("search", g.args); return 1 }
		git := func() float64 {
			cmd := exec.Command("git", append([]string{"grep", "-n", "-I", "--untracked"}, g.git...)...)
			cmd.Dir = w.Path("work")
			var none *exec.ExitError
			if _, err := cmd.Output(); err != nil && !(errors.As(err, &none) && none.ExitCode() == 1) {
				panic(err)
			}
			return 1
		}
		o := compare(max(b.rounds/5, 5), wall, side{"search", ours}, side{"git grep", git})
		b.title("search in %d files: %s", largeFiles, g.name)
		b.figure("git grep", o.seconds("git grep")*1000, "ms")
		b.figure("search", o.seconds("search")*1000, "ms")
		b.most("search / git grep", 1/o.speed("search", "git grep"), "times", 2)
	}
	return nil
}
