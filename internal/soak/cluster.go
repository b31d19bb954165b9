package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// nodes are three NATS servers, each a process.
type nodes struct {
	program string
	dir     string
	ports   []int // of clients, then of the cluster
	running []*exec.Cmd
}

const nodeCount = 3

// lease is short, so that much is taken over.
const lease = 5 * time.Second

func startNodes(program, dir string) (*nodes, error) {
	n := &nodes{program: program, dir: dir, running: make([]*exec.Cmd, nodeCount)}
	for range 2 * nodeCount {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		n.ports = append(n.ports, l.Addr().(*net.TCPAddr).Port)
		defer l.Close()
	}
	for i := range nodeCount {
		if err := n.start(i); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (n *nodes) start(i int) error {
	var routes []string
	for _, port := range n.ports[nodeCount:] {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	path := filepath.Join(n.dir, fmt.Sprintf("nats-%d", i+1))
	conf := fmt.Sprintf("server_name: n%d\nlisten: 127.0.0.1:%d\njetstream {store_dir: %q, sync_interval: always}\ncluster {name: soak, listen: 127.0.0.1:%d, routes: [%s]}\n",
		i+1, n.ports[i], path, n.ports[nodeCount+i], strings.Join(routes, ", "))
	if err := os.WriteFile(path+".conf", []byte(conf), 0o600); err != nil {
		return err
	}
	c := exec.Command(n.program, path+".conf")
	log, err := os.OpenFile(path+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	c.Stdout, c.Stderr = log, log
	n.running[i] = c
	return c.Start()
}

func (n *nodes) kill(i int) {
	_ = n.running[i].Process.Kill()
	_ = n.running[i].Wait()
}

// stop ends all of them; there may be none.
func (n *nodes) stop() {
	if n == nil {
		return
	}
	for i, c := range n.running {
		if c != nil && c.Process != nil {
			n.kill(i)
		}
	}
}

func (n *nodes) urls() string {
	var all []string
	for _, port := range n.ports[:nodeCount] {
		all = append(all, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	return strings.Join(all, ", ")
}

// section is the configuration of the cluster.
func (n *nodes) section() string {
	return fmt.Sprintf("cluster: {name: soak, lease_seconds: %d, nats: {urls: [%s]}}\n", int(lease.Seconds()), n.urls())
}

// configOf is the configuration of a worker, which has a store of its own.
func (s *soak) configOf(worker int) string {
	if worker == 0 {
		return s.world.ConfigFile()
	}
	return s.world.Path(fmt.Sprintf("worker-%d.yaml", worker))
}

// writeConfigs writes those of the workers beside the first.
func (s *soak) writeConfigs() error {
	text, err := os.ReadFile(s.world.ConfigFile())
	if err != nil {
		return err
	}
	for i := 1; i < s.workers; i++ {
		own := strings.ReplaceAll(string(text), s.world.Path("contexts"), s.world.Path(fmt.Sprintf("contexts-%d", i)))
		own = strings.ReplaceAll(own, s.world.Path("logs"), s.world.Path(fmt.Sprintf("logs-%d", i)))
		if err := os.WriteFile(s.configOf(i), []byte(own), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere runs a program as on another machine: with working copies of its own, that
// end with it. It needs root; without it all workers share the directory.
const elsewhere = `mount -t tmpfs tmpfs "$0" && exec "$@"`

func (s *soak) onMachine(worker int, argv []string) []string {
	if worker == 0 || s.nodes == nil || os.Geteuid() != 0 {
		return argv
	}
	return append([]string{"unshare", "--mount", "--propagation", "private", "sh", "-c", elsewhere, s.world.Path("workspaces")}, argv...)
}

// worker is another machine of the cluster, killed and stopped again and again.
func (s *soak) worker(n int) {
	for more := true; more; {
		p := s.startOn(n, "loop", "--interval", "1")
		more = s.between(5*time.Second, 30*time.Second)
		if more && s.random(3) == 0 {
			more = s.sleepy(p)
		}
		if p.kill() {
			s.count(func(c *counts) { c.kills++ })
		} else {
			s.problem("worker %d ended by itself with %d: %s", n, p.code, tail(p.out.String()))
		}
	}
}

// sleepy stops a worker for longer than its lease, and lets it go on for a while.
func (s *soak) sleepy(p *process) bool {
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	more := s.between(lease+time.Second, 2*lease+5*time.Second)
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	s.count(func(c *counts) { c.stops++ })
	return s.between(time.Second, 5*time.Second) && more
}

// nodeFaults kills one of the servers again and again, now and then all of them.
func (s *soak) nodeFaults() {
	for s.between(10*time.Second, 40*time.Second) {
		of := []int{s.random(nodeCount)}
		if s.random(6) == 0 {
			of = []int{0, 1, 2}
		}
		for _, i := range of {
			s.nodes.kill(i)
		}
		s.count(func(c *counts) { c.nodes += len(of) })
		s.pause(time.Duration(s.random(int(6 * time.Second))))
		for _, i := range of {
			if err := s.nodes.start(i); err != nil {
				s.problem("node %d: %v", i+1, err)
			}
		}
	}
}
