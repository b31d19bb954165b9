// Package natstest runs clusters of NATS servers with JetStream for tests: in this process,
// which is quick, or as processes, which can be killed at any instruction. Each has its
// files in a directory of the test and syncs whatever it writes.
package natstest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent/internal/freeport"

	"github.com/nats-io/nats.go"
)

// Servers are those of one cluster.
type Servers struct {
	t       testing.TB
	starter starter
	nodes   []*node
}

type node struct {
	name, config, log   string
	files               string
	client, route, http int // ports
	server              running
}

// running is a server that runs, here or as a process.
type running interface {
	kill() // without any grace
	stop() // as an administrator does
	pause(bool)
}

// Start runs n servers in this process.
func Start(t testing.TB, n int) *Servers { return start(t, n, here, "") }

// StartWith runs a server in this process with more configuration. A client needs the
// options to ask it.
func StartWith(t testing.TB, config string) *Servers { return start(t, 1, here, config) }

// StartProcesses runs n servers as processes.
func StartProcesses(t testing.TB, n int) *Servers {
	program := build(t)
	return start(t, n, func(t testing.TB, n *node) running { return process(t, program, n) }, "")
}

// Node says where a server of StartConfigs is to listen and keep its files.
type Node struct {
	Name, Client, Route, Monitor, Files string
	Routes                              []string // of all servers
}

// StartConfigs runs n servers in this process, each with a whole configuration of its own,
// which is read at once.
func StartConfigs(t testing.TB, n int, config func(Node) string) *Servers {
	t.Helper()
	dir, ports := t.TempDir(), freePorts(t, 3*n)
	local := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	var routes []string
	for i := range n {
		routes = append(routes, local(ports[3*i+1]))
	}
	s := &Servers{t: t, starter: here}
	s.endAll()
	for i := range n {
		nd := &node{name: fmt.Sprint("n", i), client: ports[3*i], route: ports[3*i+1], http: ports[3*i+2]}
		nd.config, nd.files, nd.log = filepath.Join(dir, nd.name+".conf"), filepath.Join(dir, nd.name), filepath.Join(dir, nd.name+".log")
		text := config(Node{nd.name, local(nd.client), local(nd.route), local(nd.http), nd.files, routes})
		if err := os.WriteFile(nd.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.nodes = append(s.nodes, nd)
		s.Restart(i)
	}
	return s
}

// endAll ends the servers with the test, and shows what they logged if it failed.
func (s *Servers) endAll() {
	s.t.Cleanup(func() {
		for i, nd := range s.nodes {
			if s.t.Failed() {
				s.report(i)
			}
			if nd.server != nil {
				nd.server.kill()
			}
		}
	})
}

type starter func(testing.TB, *node) running

func start(t testing.TB, n int, run starter, more string) *Servers {
	t.Helper()
	dir := t.TempDir()
	s := &Servers{t: t, starter: run}
	ports := freePorts(t, 3*n)
	var routes []string
	for i := range n {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[3*i+1]))
	}
	for i := range n {
		nd := &node{name: fmt.Sprint("n", i), client: ports[3*i], route: ports[3*i+1], http: ports[3*i+2]}
		nd.config = filepath.Join(dir, nd.name+".conf")
		nd.files = filepath.Join(dir, nd.name)
		nd.log = filepath.Join(dir, nd.name+".log")
		text := fmt.Sprintf("server_name: %s\nlisten: 127.0.0.1:%d\nhttp: 127.0.0.1:%d\nlog_file: %q\n"+
			"jetstream {\n store_dir: %q\n sync_interval: always\n max_file: 8GB\n}\n", nd.name, nd.client, nd.http, nd.log, nd.files)
		text += more
		if n > 1 {
			text += fmt.Sprintf("cluster {\n name: test\n listen: 127.0.0.1:%d\n routes: [%s]\n}\n", nd.route, strings.Join(routes, ", "))
		}
		if err := os.WriteFile(nd.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.nodes = append(s.nodes, nd)
	}
	s.endAll()
	for i := range s.nodes {
		s.Restart(i)
	}
	if more == "" {
		s.Await()
	}
	return s
}

// URLs are the addresses for clients.
func (s *Servers) URLs() []string {
	var all []string
	for _, nd := range s.nodes {
		all = append(all, fmt.Sprintf("nats://127.0.0.1:%d", nd.client))
	}
	return all
}

// Monitor are the addresses of the monitoring.
func (s *Servers) Monitor() []string {
	var all []string
	for _, nd := range s.nodes {
		all = append(all, fmt.Sprintf("http://127.0.0.1:%d", nd.http))
	}
	return all
}

// Files is the directory of a server's files.
func (s *Servers) Files(i int) string { return s.nodes[i].files }

// Kill ends a server. One that is a process has no time to write anything.
func (s *Servers) Kill(i int) {
	s.nodes[i].server.kill()
	s.nodes[i].server = nil
}

// Stop ends a server as an administrator does.
func (s *Servers) Stop(i int) {
	s.nodes[i].server.stop()
	s.nodes[i].server = nil
}

// Pause stops a server that is a process, or lets it run on.
func (s *Servers) Pause(i int, stopped bool) { s.nodes[i].server.pause(stopped) }

// Restart runs a server that was ended, with the files that it had.
func (s *Servers) Restart(i int) { s.nodes[i].server = s.starter(s.t, s.nodes[i]) }

// Await waits until the servers have a leader.
func (s *Servers) Await() {
	s.t.Helper()
	s.ask("$JS.API.INFO", func(answer []byte) bool { return !strings.Contains(string(answer), `"error"`) })
}

// Leader is the server that leads a stream.
func (s *Servers) Leader(stream string) int {
	s.t.Helper()
	leader := -1
	s.ask("$JS.API.STREAM.INFO."+stream, func(answer []byte) bool {
		var info struct {
			Cluster struct{ Leader string }
		}
		if json.Unmarshal(answer, &info) == nil && info.Cluster.Leader != "" {
			_, err := fmt.Sscanf(info.Cluster.Leader, "n%d", &leader)
			return err == nil
		}
		return false
	})
	return leader
}

// ask repeats a question until the answer is good.
func (s *Servers) ask(subject string, good func([]byte) bool) {
	s.t.Helper()
	nc, err := nats.Connect(strings.Join(s.URLs(), ","), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		s.t.Fatal(err)
	}
	defer nc.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		m, err := nc.Request(subject, nil, time.Second)
		if err == nil && good(m.Data) {
			return
		}
	}
	s.t.Fatalf("no good answer to %s in a minute", subject)
}

func (s *Servers) report(i int) {
	if text, err := os.ReadFile(s.nodes[i].log); err == nil {
		lines := strings.Split(string(text), "\n")
		s.t.Logf("%s:\n%s", s.nodes[i].name, strings.Join(lines[max(len(lines)-15, 0):], "\n"))
	}
}

func freePorts(t testing.TB, n int) []int {
	t.Helper()
	ports, err := freeport.Find(n)
	if err != nil {
		t.Fatal(err)
	}
	return ports
}
