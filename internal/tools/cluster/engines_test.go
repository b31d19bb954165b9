package cluster

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agent/internal/cluster/jetstream"
	"agent/internal/tools/cluster/natstest"
)

// engine appends a line of 1 KiB with compare-and-set: again and again, by some clients at
// once, each to a log of its own. It gives the time of each append.
type engine struct {
	name   string
	append func(t testing.TB, round, clients, each int) []time.Duration
}

const lineSize = 1 << 10

// BenchmarkEngines is the measurement of docs/adr/0022. The engines take turns, so that the
// machine's noise strikes all alike, and each is compared with the raw sync of the same run.
// etcd, PostgreSQL and MinIO must be installed.
func BenchmarkEngines(t *testing.B) {
	dir, err := os.MkdirTemp("", "engines")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	engines := []engine{rawEngine(t, dir), natsEngine(t), etcdEngine(t, dir), postgresEngine(t, dir), objectEngine(t, dir)}
	for _, clients := range []int{1, 8} {
		times, spent := make([][]time.Duration, len(engines)), make([]time.Duration, len(engines))
		const rounds, each = 5, 100
		for round := range rounds {
			for i, e := range engines {
				began := time.Now()
				times[i] = append(times[i], e.append(t, round+100*clients, clients, each)...)
				spent[i] += time.Since(began)
			}
		}
		raw := median(times[0])
		for i, e := range engines {
			rate := float64(len(times[i])) / spent[i].Seconds()
			if e.name == "PostgreSQL" { // pgbench takes time to begin
				rate = float64(clients) / mean(times[i]).Seconds()
			}
			m := median(times[i])
			t.Logf("%d at once | %-20s | median %8v | %5.1f raw syncs | %6.0f appends/s", clients, e.name, m.Round(10*time.Microsecond), float64(m)/float64(raw), rate)
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load of the machine: %s", load)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func mean(all []time.Duration) (sum time.Duration) {
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(len(all))
}

// atOnceTimed runs clients side by side.
func atOnceTimed(t testing.TB, clients, each int, do func(client, n int) error) []time.Duration {
	t.Helper()
	all := make([][]time.Duration, clients)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for n := range each {
				began := time.Now()
				if err := do(c, n); err != nil {
					t.Error(err)
					return
				}
				all[c] = append(all[c], time.Since(began))
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return slices.Concat(all...)
}

func rawEngine(t testing.TB, dir string) engine {
	var files []*os.File
	for c := range 8 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint("raw", c)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	line := make([]byte, lineSize)
	return engine{"raw fdatasync", func(t testing.TB, _, clients, each int) []time.Duration {
		return atOnceTimed(t, clients, each, func(c, _ int) error {
			if _, err := files[c].Write(line); err != nil {
				return err
			}
			return unix.Fdatasync(int(files[c].Fd()))
		})
	}}
}

func natsEngine(t testing.TB) engine {
	servers := natstest.StartProcesses(t, 3)
	b := open(t, jetstream.Options{URLs: servers.URLs(), Replicas: 3})
	return engine{"JetStream, 3 nodes", func(t testing.TB, round, clients, each int) []time.Duration {
		after := make([]uint64, clients)
		line := bytes.Repeat([]byte("x"), lineSize)
		return atOnceTimed(t, clients, each, func(c, _ int) (err error) {
			after[c], err = b.Append(t.Context(), fmt.Sprintf("r%d-%d", round, c), after[c], line)()
			return err
		})
	}}
}

// start runs a program until the end of the test.
func start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
}

// until waits until something works.
func until(t testing.TB, what string, works func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = works(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

// etcdEngine speaks to etcd in JSON, by its own gateway.
func etcdEngine(t testing.TB, dir string) engine {
	var initial []string
	address := func(i int) string { return fmt.Sprintf("http://127.0.0.1:%d", 23790+i) }
	for i := range 3 {
		initial = append(initial, fmt.Sprintf("e%d=%s", i, address(10+i)))
	}
	for i := range 3 {
		start(t, exec.Command("etcd", "--name", fmt.Sprint("e", i), "--data-dir", filepath.Join(dir, fmt.Sprint("etcd", i)), "--log-level", "error",
			"--listen-client-urls", address(i), "--advertise-client-urls", address(i), "--listen-peer-urls", address(10+i),
			"--initial-advertise-peer-urls", address(10+i), "--initial-cluster", strings.Join(initial, ",")))
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	value := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), lineSize))
	put := func(key string) error {
		key = base64.StdEncoding.EncodeToString([]byte(key))
		body := fmt.Sprintf(`{"compare":[{"key":%q,"target":"VERSION","result":"EQUAL","version":"0"}],"success":[{"request_put":{"key":%q,"value":%q}}]}`, key, key, value)
		resp, err := client.Post(address(0)+"/v3/kv/txn", "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err == nil && !bytes.Contains(answer, []byte(`"succeeded":true`)) {
			err = fmt.Errorf("etcd: %s", answer)
		}
		return err
	}
	until(t, "etcd", func() error { return put(fmt.Sprint("first", time.Now().UnixNano())) })
	return engine{"etcd, 3 nodes", func(t testing.TB, round, clients, each int) []time.Duration {
		return atOnceTimed(t, clients, each, func(c, n int) error { return put(fmt.Sprintf("%d/%d/%d", round, c, n)) })
	}}
}

// postgresEngine is one server: a unique key of log and position refuses the second writer.
// pgbench measures.
func postgresEngine(t testing.TB, dir string) engine {
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	home := filepath.Join(dir, "postgres")
	if err = os.Mkdir(home, 0o700); err == nil {
		err = os.Chown(home, uid, gid)
	}
	if err != nil || os.Chmod(dir, 0o755) != nil {
		t.Fatal(err)
	}
	command := func(name string, args ...string) *exec.Cmd {
		found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
		if err != nil || len(found) == 0 {
			t.Fatalf("there is no %s", name)
		}
		cmd := exec.Command(found[len(found)-1], args...)
		cmd.Dir, cmd.Env = home, []string{"PGHOST=" + home, "PGUSER=postgres", "PGDATABASE=postgres", "LANG=C"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return cmd
	}
	run := func(cmd *exec.Cmd) error {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %s", err, out)
		}
		return nil
	}
	if err := run(command("initdb", "-D", home+"/data", "-A", "trust")); err != nil {
		t.Fatal(err)
	}
	start(t, command("postgres", "-D", home+"/data", "-k", home, "-c", "listen_addresses=", "-c", "synchronous_commit=on", "-c", "fsync=on"))
	until(t, "postgres", func() error {
		return run(command("psql", "-c", "CREATE TABLE log (name text, pos bigint, line text, PRIMARY KEY (name, pos))"))
	})
	script := filepath.Join(home, "append.sql")
	text := fmt.Sprintf("\\set n :n + 1\nINSERT INTO log VALUES ('r' || :round || '-' || :client_id, :n, repeat('x', %d));\n", lineSize)
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return engine{"PostgreSQL", func(t testing.TB, round, clients, each int) (all []time.Duration) {
		prefix := fmt.Sprintf("log%d", round)
		if err := run(command("pgbench", "-n", "-M", "prepared", "-c", fmt.Sprint(clients), "-t", fmt.Sprint(each), "-D", "n=0", "-D", fmt.Sprint("round=", round),
			"-f", script, "--log", "--log-prefix="+prefix)); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(home, prefix+".*"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				us, err := strconv.Atoi(strings.Fields(line)[2])
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, time.Duration(us)*time.Microsecond)
			}
		}
		if len(all) != clients*each {
			t.Fatalf("%d appends", len(all))
		}
		return all
	}}
}
