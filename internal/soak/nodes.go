package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"agent/internal/freeport"
)

// nodes are three NATS servers, each a process.
type nodes struct {
	program string
	dir     string
	ports   []int // of clients, of the cluster, of the monitoring
	running []*exec.Cmd
}

const nodeCount = 3

func startNodes(program, dir string) (*nodes, error) {
	ports, err := freeport.Find(3 * nodeCount)
	if err != nil {
		return nil, err
	}
	n := &nodes{program: program, dir: dir, ports: ports, running: make([]*exec.Cmd, nodeCount)}
	for i := range nodeCount {
		if err := n.start(i); err != nil {
			return n, err
		}
	}
	for i := range nodeCount {
		if err := n.await(i); err != nil {
			return n, err
		}
	}
	return n, nil
}

// await waits until a server listens.
func (n *nodes) await(i int) (err error) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var c net.Conn
		if c, err = net.Dial("tcp", n.addresses()[i]); err == nil {
			return c.Close()
		}
	}
	log, _ := os.ReadFile(filepath.Join(n.dir, fmt.Sprintf("nats-%d.log", i+1)))
	return fmt.Errorf("node %d does not listen: %w: %s", i+1, err, tail(string(log)))
}

// start starts a server. Clients learn nothing of the others, to which they could go around
// a cut.
func (n *nodes) start(i int) error {
	var routes []string
	for _, port := range n.ports[nodeCount : 2*nodeCount] {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	path := filepath.Join(n.dir, fmt.Sprintf("nats-%d", i+1))
	conf := fmt.Sprintf("server_name: n%d\nlisten: 127.0.0.1:%d\nhttp: 127.0.0.1:%d\njetstream {store_dir: %q, sync_interval: always}\n"+
		"cluster {name: soak, listen: 127.0.0.1:%d, routes: [%s], no_advertise: true}\n",
		i+1, n.ports[i], n.ports[2*nodeCount+i], path, n.ports[nodeCount+i], strings.Join(routes, ", "))
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

func (n *nodes) addresses() (all []string) {
	for _, port := range n.ports[:nodeCount] {
		all = append(all, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return all
}

// leader is the server that leads the stream of the history, -1 if none says so.
func (n *nodes) leader() int {
	client := http.Client{Timeout: time.Second}
	for _, port := range n.ports[2*nodeCount:] {
		answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/jsz?acc=$G&streams=true", port))
		if err != nil {
			continue
		}
		var all struct {
			Accounts []struct {
				Streams []struct {
					Name    string
					Cluster struct{ Leader string }
				} `json:"stream_detail"`
			} `json:"account_details"`
		}
		err = json.NewDecoder(answer.Body).Decode(&all)
		answer.Body.Close()
		if err != nil {
			continue
		}
		for _, account := range all.Accounts {
			for _, stream := range account.Streams {
				var i int
				if _, err := fmt.Sscanf(stream.Cluster.Leader, "n%d", &i); err == nil && stream.Name == "soak_history" {
					return i - 1
				}
			}
		}
	}
	return -1
}

// nodeFaults kills one of the servers again and again: any, the leader, now and then all.
func (s *soak) nodeFaults() {
	for s.between(10*time.Second, 40*time.Second) {
		of := []int{s.random(nodeCount)}
		switch s.random(6) {
		case 0, 1:
			if i := s.nodes.leader(); i >= 0 {
				of[0] = i
				s.count(func(c *counts) { c.leaders++ })
			}
		case 2:
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
