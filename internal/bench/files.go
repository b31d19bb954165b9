package main

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"agent/llm/llmtest"
)

// manyFiles is how many files the repository of the section files has.
const manyFiles = 10_000

// calls are what saving is measured after, by turns.
var calls = []struct {
	name string
	most float64 // ms that saving may take
	call func(i int) llmtest.Reply
}{
	{"edit_file", 15, func(i int) llmtest.Reply {
		return llmtest.ToolCall("workspace__edit_file", map[string]any{"path": manyName(i), "old_text": "number", "new_text": fmt.Sprintf("edited %d", i)})
	}},
	{"write_file", 15, func(i int) llmtest.Reply {
		return llmtest.ToolCall("workspace__write_file", map[string]any{"path": fmt.Sprintf("new/file%d.txt", i), "content": text(i)})
	}},
	{"run_command that changes a file", 60, func(i int) llmtest.Reply {
		return llmtest.ToolCall("workspace__run_command", map[string]any{"argv": []string{"sh", "-c", fmt.Sprintf("echo %d >> log.txt", i)}})
	}},
	{"run_command that changes nothing", 60, func(int) llmtest.Reply {
		return llmtest.ToolCall("workspace__run_command", map[string]any{"argv": []string{"true"}})
	}},
	{"read_file", 0, readNote},
}

// text is some 4 KB that compress about as source code does.
func text(i int) string {
	words := strings.Fields("return err if nil func string range make append len for switch case default type struct context time")
	random := rand.New(rand.NewPCG(uint64(i), 1))
	var b strings.Builder
	fmt.Fprintf(&b, "file number %d\n", i)
	for range 120 {
		fmt.Fprintf(&b, "\t%s := %s(%s, %d)\n", words[random.IntN(len(words))], words[random.IntN(len(words))], words[random.IntN(len(words))], random.IntN(1000))
	}
	return b.String()
}

// changed is how many bytes the contents that the calls replace and write are, each compressed.
func changed(each int) (size float64) {
	add := func(content string) {
		var out bytes.Buffer
		z := zlib.NewWriter(&out)
		_, err := z.Write([]byte(content))
		must(errors.Join(err, z.Close()))
		size += float64(out.Len())
	}
	log := ""
	for k := range each {
		i := k * len(calls)
		add(text(i))
		add(strings.Replace(text(i), "number", fmt.Sprintf("edited %d", i), 1))
		add(text(i + 1))
		log += fmt.Sprintln(i + 2)
		add(log)
	}
	return size
}

func manyName(i int) string { return fmt.Sprintf("pkg%02d/sub%d/file%04d.txt", i/200, i/40%5, i) }

// files plays the same run with an agent that saves the files and one that does not, by turns.
func (b *bench) files() error {
	saving, err := b.build(agentPackage, "agent")
	if err != nil {
		return err
	}
	plain, err := b.buildTagged("nosave", "agent-nosave")
	if err != nil {
		return err
	}
	gaps := map[string][][]float64{} // by agent, by call
	var disk float64
	for range 2 {
		for _, agent := range []string{plain, saving} {
			one, size, err := b.playFiles(agent)
			if err != nil {
				return err
			}
			if gaps[agent] == nil {
				gaps[agent] = make([][]float64, len(calls))
			}
			for i, g := range one {
				gaps[agent][i] = append(gaps[agent][i], g...)
			}
			disk = max(disk, size)
		}
	}
	b.title("a call in a repository of %d files: from an answer of the model to its next request, medians", manyFiles)
	for i, c := range calls {
		with, without := median(gaps[saving][i]), median(gaps[plain][i])
		b.figure(c.name+", without saving", without, "ms")
		if c.most > 0 {
			b.most("  more with it", with-without, "ms", c.most)
		} else {
			b.figure("  more with it", with-without, "ms")
		}
	}
	b.figure("objects after 75 calls", disk/1024, "KiB")
	b.most("objects / the contents that changed, compressed", disk/changed(each), "", 2)
	return nil
}

// each is how often each call is made.
const each = 15

func (b *bench) playFiles(agent string) (gaps [][]float64, size float64, err error) {
	gaps = make([][]float64, len(calls))
	var w *scene
	w = b.newScene(func(_ int, r llmtest.Request) llmtest.Reply {
		turns := r.Turns()
		if len(r.Tools) == 0 {
			return llmtest.Text("The notes were changed.")
		}
		if turns > 0 && turns <= each*len(calls) {
			k := (turns - 1) % len(calls)
			gaps[k] = append(gaps[k], w.watch.last().Seconds()*1000)
		}
		if turns >= each*len(calls) {
			return llmtest.Text("I have changed the notes. All new files stay.")
		}
		return calls[turns%len(calls)].call(turns)
	}, "")
	defer w.close()
	w.agent = agent
	w.addFiles(manyFiles)
	if err := finish(w.start()); err != nil {
		return nil, 0, err
	}
	packs, err := filepath.Glob(w.Path("contexts/*/*/objects/pack/*"))
	must(err)
	for _, p := range packs {
		info, err := os.Stat(p)
		must(err)
		size += float64(info.Size())
	}
	return gaps, size, nil
}

// addFiles makes the repository a large one.
func (w *scene) addFiles(count int) {
	for i := range count {
		name := filepath.Join(w.Path("work"), manyName(i))
		must(os.MkdirAll(filepath.Dir(name), 0o700))
		must(os.WriteFile(name, []byte(text(i)), 0o600))
	}
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=someone", "-c", "user.email=someone@example.com", "commit", "-q", "-m", "Many"}, {"push", "-q", w.Path("origin.git"), "main"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.Path("work")
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("git %s: %v\n%s", args[0], err, out))
		}
	}
}
