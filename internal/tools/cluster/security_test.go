package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	bus "agent/internal/cluster"
	"agent/internal/cluster/clustertest"
	"agent/internal/cluster/jetstream"
	"agent/internal/tools/cluster/natstest"
)

// What a worker of the cluster "test" may ask for, and one who only reads. The
// documentation shows these lists.
func mayPublish(worker bool) []string {
	const history, objects, keys, queue = "test_history", "test_objects", "KV_test_keys", "test_queue"
	all := []string{"$JS.API.DIRECT.GET." + history, "$JS.API.DIRECT.GET." + objects + ".>"}
	for _, stream := range []string{history, objects, keys, queue} {
		all = append(all, "$JS.API.STREAM.INFO."+stream, "$JS.API.STREAM.MSG.GET."+stream)
		if worker {
			all = append(all, "$JS.API.STREAM.CREATE."+stream, "$JS.API.STREAM.PURGE."+stream)
		}
		if worker || stream == history || stream == keys { // to follow and to watch
			for _, what := range []string{"CREATE", "DELETE", "MSG.NEXT"} {
				all = append(all, "$JS.API.CONSUMER."+what+"."+stream+".>")
			}
		}
	}
	if worker {
		all = append(all, "test.>", "$KV.test_keys.>", "$JS.ACK.test_queue.>")
	}
	return all
}

var mayHear = []string{"_INBOX.>", "test.wake.*"}

func list(of []string) string { return `["` + strings.Join(of, `", "`) + `"]` }

// A worker with no more rights than the documentation gives it does all that a bus does.
func TestPermissions(t *testing.T) {
	user := func(may []string) (public, file string) {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, _ = pair.PublicKey()
		seed, _ := pair.Seed()
		file = filepath.Join(t.TempDir(), "seed")
		if err := os.WriteFile(file, seed, 0o600); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("{nkey: %s, permissions: {publish: %s, subscribe: %s}}\n", public, list(may), list(mayHear)), file
	}
	worker, workerSeed := user(mayPublish(true))
	reader, readerSeed := user(mayPublish(false))
	servers := natstest.StartWith(t, "authorization {\n users = [\n"+worker+reader+"]\n}\n")
	if _, err := jetstream.Open(t.Context(), jetstream.Options{URLs: servers.URLs(), Name: "test", Timeout: time.Second}); !errors.Is(err, bus.ErrUnreachable) {
		t.Errorf("without a key: %v", err)
	}
	o := jetstream.Options{URLs: servers.URLs(), NKeyFile: workerSeed, AckWait: time.Second}
	w := open(t, o)
	clustertest.Suite(t, [2]bus.Bus{w, open(t, o)}, o.AckWait)

	r := open(t, jetstream.Options{URLs: servers.URLs(), NKeyFile: readerSeed, Timeout: 2 * time.Second})
	if n := 0; true {
		for _, err := range r.Lines(t.Context(), "again", 0) {
			if n++; err != nil {
				t.Error(err)
			}
		}
		if n != 2 {
			t.Errorf("%d lines", n)
		}
	}
	for v, err := range r.WatchKeys(t.Context(), "names/") {
		if err != nil {
			t.Error(err)
		}
		if v.Key == "" {
			break
		}
	}
	if _, err := r.Health(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.Append(t.Context(), "again", 0, []byte("x"))(); !errors.Is(err, bus.ErrUnreachable) {
		t.Errorf("one who only reads appends: %v", err)
	}
}

// credentials makes an operator, an account with JetStream and a user of it.
func credentials(t *testing.T) (config, file string) {
	t.Helper()
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		p, err := make()
		if err != nil {
			t.Fatal(err)
		}
		public, _ := p.PublicKey()
		return p, public
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	_, systemID := pair(nkeys.CreateAccount)
	account, accountID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	encode := func(text string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	oc := jwt.NewOperatorClaims(operatorID)
	oc.SystemAccount = systemID
	ac := jwt.NewAccountClaims(accountID)
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	seed, _ := user.Seed()
	creds, err := jwt.FormatUserConfig(encode(jwt.NewUserClaims(userID).Encode(account)), seed)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(file, creds, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n %s: %s\n %s: %s\n}\n", encode(oc.Encode(operator)),
		systemID, systemID, encode(jwt.NewAccountClaims(systemID).Encode(operator)), accountID, encode(ac.Encode(operator))), file
}

func TestCredentials(t *testing.T) {
	config, file := credentials(t)
	servers := natstest.StartWith(t, config)
	b := open(t, jetstream.Options{URLs: servers.URLs(), CredsFile: file})
	if _, err := b.Append(t.Context(), "x", 0, []byte("x"))(); err != nil {
		t.Error(err)
	}
	if b, err := jetstream.Open(t.Context(), jetstream.Options{URLs: servers.URLs(), Name: "test", Timeout: time.Second}); err == nil {
		b.Close()
		t.Error("it opens without credentials")
	}
}

// certificates makes those of an authority, a server and a client.
func certificates(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	write("ca.pem", "CERTIFICATE", der, err)
	for i, name := range []string{"server", "client"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{SerialNumber: big.NewInt(int64(2 + i)), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
		der, err := x509.CreateCertificate(rand.Reader, c, ca, &key.PublicKey, caKey)
		write(name+".pem", "CERTIFICATE", der, err)
		der, err = x509.MarshalPKCS8PrivateKey(key)
		write(name+".key", "PRIVATE KEY", der, err)
	}
	return dir
}

func TestTLS(t *testing.T) {
	dir := certificates(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	servers := natstest.StartWith(t, fmt.Sprintf("tls {\n cert_file: %q\n key_file: %q\n ca_file: %q\n verify: true\n}\n", file("server.pem"), file("server.key"), file("ca.pem")))
	o := jetstream.Options{URLs: servers.URLs(), CAFile: file("ca.pem"), CertFile: file("client.pem"), KeyFile: file("client.key")}
	b := open(t, o)
	if _, err := b.Append(t.Context(), "x", 0, []byte("x"))(); err != nil {
		t.Error(err)
	}
	for what, o := range map[string]jetstream.Options{
		"without a certificate":     {CAFile: o.CAFile},
		"of an unknown authority":   {CertFile: o.CertFile, KeyFile: o.KeyFile},
		"with no file of authority": {CAFile: file("none.pem")},
	} {
		o.URLs, o.Name, o.Timeout = servers.URLs(), "test", time.Second
		if b, err := jetstream.Open(t.Context(), o); err == nil {
			b.Close()
			t.Errorf("%s: it opens", what)
		}
	}
}

// A password in an address never leaves the program.
func TestSecrets(t *testing.T) {
	servers := natstest.StartWith(t, "authorization {\n user: agent\n password: s3cret\n}\n")
	with := func(password string) []string {
		return []string{"nats://agent:" + password + "@" + strings.TrimPrefix(servers.URLs()[0], "nats://")}
	}
	b := open(t, jetstream.Options{URLs: with("s3cret"), Monitor: []string{"http://x:s3cret@127.0.0.1:1"}})
	h, err := b.Health(t.Context())
	if text := fmt.Sprintf("%+v", h); err != nil || strings.Contains(text, "s3cret") || h.Server == "" {
		t.Errorf("%s, %v", text, err)
	}
	for _, urls := range [][]string{with("s3cret-not"), {"nats://agent:s3cret@127.0.0.1:1"}, {"nats://agent:s3cret\x00@127.0.0.1:1"}, {"nats://agent:s3cret%@127.0.0.1:1"}} {
		b, err := jetstream.Open(t.Context(), jetstream.Options{URLs: urls, Name: "test", Timeout: time.Second})
		if err == nil {
			b.Close()
		}
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}
