package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	bus "agent/internal/cluster"
	"agent/internal/cluster/clustertest"
	"agent/internal/cluster/jetstream"
	"agent/internal/tools/cluster/natstest"
)

const deployed = "../../../deploy/cluster/"

// shipped runs three servers with the configuration that is shipped, and gives what a worker
// needs to use them. Only addresses and paths are changed.
func shipped(t *testing.T) (*natstest.Servers, jetstream.Options) {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(deployed + "nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(deployed+"certificates", dir, "127.0.0.1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seed := filepath.Join(dir, "worker.nk")
	for _, name := range []string{"WORKER_NKEY", "ADMIN_NKEY"} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, _ := pair.PublicKey()
		t.Setenv(name, public)
		if private, _ := pair.Seed(); name == "WORKER_NKEY" {
			if err := os.WriteFile(seed, private, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("MAX_FILE", "1GB")
	servers := natstest.StartConfigs(t, 3, func(n natstest.Node) string {
		t.Setenv("NODE", n.Name)
		t.Setenv("MONITOR", n.Monitor)
		replace := []string{"0.0.0.0:4222", n.Client, "0.0.0.0:6222", n.Route, "store_dir: /data", fmt.Sprintf("store_dir: %q", n.Files),
			"/etc/nats/tls/server", filepath.Join(dir, "127.0.0.1"), "/etc/nats/tls/ca.pem", filepath.Join(dir, "ca.pem")}
		for i, route := range n.Routes {
			replace = append(replace, fmt.Sprintf("nats-%d:6222", i+1), route)
		}
		return strings.NewReplacer(replace...).Replace(string(text))
	})
	return servers, jetstream.Options{URLs: servers.URLs(), Name: "agent", Replicas: 3, NKeyFile: seed, CAFile: filepath.Join(dir, "ca.pem"),
		AckWait: 2 * time.Second, Monitor: servers.Monitor()}
}

// With the rights that the shipped configuration gives a worker it does all that a bus does.
func TestShipped(t *testing.T) {
	_, o := shipped(t)
	b := open(t, o)
	clustertest.Suite(t, [2]bus.Bus{b, open(t, o)}, o.AckWait)
	h := healthWhen(t, b, bus.Health.Whole)
	for _, s := range h.Servers {
		if s.Error != "" || !s.SyncAlways {
			t.Errorf("%+v", s)
		}
	}
	for what, spoil := range map[string]func(*jetstream.Options){
		"without a key": func(o *jetstream.Options) { o.NKeyFile = "" }, "another cluster": func(o *jetstream.Options) { o.Name = "other" },
		"without the authority": func(o *jetstream.Options) { o.CAFile = "" },
	} {
		other := o
		other.Timeout = time.Second
		if spoil(&other); true {
			b, err := jetstream.Open(t.Context(), other)
			if err == nil {
				b.Close()
				t.Errorf("%s: it opens", what)
			}
		}
	}
}
