package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// machine is what a worker of the cluster runs on.
type machine struct {
	network network   // nil: straight to the servers
	space   namespace // of its network; without a pid it shares that of this process
	holder  *exec.Cmd // keeps its mounts; nil: it shares the directory, since nobody is root
	away    bool      // nobody gives commands there now
}

// The store of a machine is on a disk of its own, which is small, and stays as long as
// the machine. Its working copies end with the process: another machine makes them again.
const (
	ownStore  = `mount -t tmpfs -o size=256m,mode=700 tmpfs "$0" && echo ready && exec cat`
	ownCopies = `mount -t tmpfs tmpfs "$0" && exec "$@"`
)

// makeMachines makes those of the workers. The first is this one.
func (s *soak) makeMachines() error {
	s.machines = []*machine{{}}
	for n := 1; n < s.workers; n++ {
		m, err := s.newMachine(n)
		if s.machines = append(s.machines, m); err != nil {
			return err
		}
	}
	return s.writeConfigs()
}

func (s *soak) endMachines() {
	for _, m := range s.machines {
		m.end()
	}
	s.nodes.stop()
}

func (s *soak) newMachine(n int) (*machine, error) {
	m := &machine{}
	if os.Geteuid() != 0 {
		network, err := newNetwork(s.nodes.addresses())
		m.network = network
		return m, err
	}
	store := s.storeOf(n)
	if err := os.MkdirAll(store, 0o700); err != nil {
		return nil, err
	}
	args := []string{"--mount", "--propagation", "private", "sh", "-c", ownStore, store}
	if s.partitions {
		args = append([]string{"--net"}, args...)
	}
	m.holder = exec.Command("unshare", args...)
	ready, err := m.holder.StdoutPipe()
	if err == nil {
		_, err = m.holder.StdinPipe() // which ends with this process, and the holder with it
	}
	if err == nil {
		err = m.holder.Start()
	}
	if err == nil {
		_, err = io.ReadFull(ready, make([]byte, len("ready\n")))
	}
	if err != nil {
		return m, err
	}
	return m, s.connect(m)
}

// connect gives a machine its network.
func (s *soak) connect(m *machine) (err error) {
	if !s.partitions {
		m.network, err = newNetwork(s.nodes.addresses())
		return err
	}
	m.space = namespace{m.holder.Process.Pid}
	model, err := url.Parse(s.world.Model.URL())
	if err == nil {
		err = m.space.connect(true)
	}
	if err == nil {
		m.network, err = newNetworkIn(m.space, s.nodes.addresses(), []string{model.Host, s.world.Forge.Host(), s.world.Beside.Host()})
	}
	return err
}

// storeOf is the contexts_dir of a machine.
func (s *soak) storeOf(n int) string {
	if n == 0 {
		return s.world.Path("contexts")
	}
	return s.world.Path(fmt.Sprintf("contexts-%d", n))
}

// seen is the path under which this process sees a file of a machine.
func (m *machine) seen(path string) string {
	if m == nil || m.holder == nil {
		return path
	}
	return filepath.Join(fmt.Sprintf("/proc/%d/root", m.holder.Process.Pid), path)
}

// run is the command that runs a program on a machine.
func (m *machine) run(workspaces string, argv []string) []string {
	if m == nil || m.holder == nil {
		return argv
	}
	return append([]string{"nsenter", fmt.Sprintf("--mount=/proc/%d/ns/mnt", m.holder.Process.Pid), fmt.Sprintf("--net=/proc/%d/ns/net", m.holder.Process.Pid),
		"unshare", "--mount", "--propagation", "private", "sh", "-c", ownCopies, workspaces}, argv...)
}

func (m *machine) end() {
	if m != nil && m.holder != nil {
		_ = m.holder.Process.Kill()
		_ = m.holder.Wait()
	}
}

// fill fills the disk of a machine's store.
func (m *machine) fill(store string) (empty func(), err error) {
	name := m.seen(filepath.Join(store, "filler"))
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for block := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return nil, err
	}
	return func() { _ = os.Remove(name) }, nil
}

// step sets the clock of a machine.
func (s *soak) step(n int) error {
	by := time.Duration(s.random(int(3*time.Minute))) - 90*time.Second
	return os.WriteFile(s.clockOf(n), []byte(by.String()), 0o600)
}

func (s *soak) clockOf(n int) string { return s.world.Path(fmt.Sprintf("clock-%d", n)) }

// writeConfigs writes those of the machines beside the first.
func (s *soak) writeConfigs() error {
	text, err := os.ReadFile(s.world.ConfigFile())
	if err != nil {
		return err
	}
	for n, m := range s.machines[1:] {
		n++
		own := strings.ReplaceAll(string(text), s.storeOf(0), s.storeOf(n))
		own = strings.ReplaceAll(own, s.world.Path("logs"), s.world.Path(fmt.Sprintf("logs-%d", n)))
		own = strings.ReplaceAll(own, s.section(s.nodes.addresses()), s.section(m.network.addresses()))
		if err := os.WriteFile(s.configOf(n), []byte(own), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// configOf is the configuration of a machine.
func (s *soak) configOf(n int) string {
	if n == 0 {
		return s.world.ConfigFile()
	}
	return s.world.Path(fmt.Sprintf("worker-%d.yaml", n))
}

// section is the configuration of the cluster.
func (s *soak) section(servers []string) string {
	return fmt.Sprintf("cluster: {name: soak, lease_seconds: %d, nats: {urls: [nats://%s]}}\n", int(s.lease.Seconds()), strings.Join(servers, ", nats://"))
}
