package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
)

// Options say where the servers are and who we are.
type Options struct {
	URLs      []string // nats://host:4222, tls://…; one is enough to find the others
	CredsFile string   // of a user with a JWT
	NKeyFile  string   // the seed of a user with an nkey
	CAFile    string   // with these, the connection is one of TLS
	CertFile  string
	KeyFile   string

	Name     string        // names the streams, so that several clusters share servers
	Replicas int           // of each stream; 1 if 0
	AckWait  time.Duration // until a job that nobody works on is given to another worker; a minute if 0
	NoCreate bool          // create no streams: only look at what there is
	Timeout  time.Duration // of a call whose context has no deadline; 10 s if 0
	// Monitor are addresses of the servers' monitoring, as http://host:8222. [Bus.Health]
	// asks them for what a client is not told.
	Monitor []string
	Log     *slog.Logger
}

func (o *Options) complete() error {
	if len(o.URLs) == 0 {
		return errors.New("no address of a NATS server")
	}
	for i, address := range o.URLs { // an error of the client would show the password in it
		if _, err := url.Parse(address); err != nil {
			return fmt.Errorf("address %d of a NATS server is no URL", i+1)
		}
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(o.Name) {
		return fmt.Errorf("the name of the cluster is %q, but has letters, digits, _ and - only", o.Name)
	}
	if o.CredsFile != "" && o.NKeyFile != "" {
		return errors.New("both a file of credentials and one of an nkey")
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		return errors.New("a certificate needs its key, and a key its certificate")
	}
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	if o.AckWait == 0 {
		o.AckWait = time.Minute
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// dialTime is how long one server may take to answer, so that all can be tried before ctx ends.
func (o *Options) dialTime(ctx context.Context) time.Duration {
	most := min(o.Timeout, 5*time.Second)
	if end, limited := ctx.Deadline(); limited {
		return max(min(most, time.Until(end)/time.Duration(len(o.URLs))), 100*time.Millisecond)
	}
	return most
}

// connection are the options of the client.
func (o *Options) connection(ctx context.Context) ([]nats.Option, error) {
	opts := []nats.Option{
		nats.Name("agent"),
		nats.Timeout(o.dialTime(ctx)),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(200 * time.Millisecond),
		nats.ReconnectJitter(200*time.Millisecond, time.Second),
		nats.IgnoreAuthErrorAbort(), // credentials may be renewed while we run
		// What is asked for while there is no connection fails at once and is asked for
		// again. If it were kept, it could be done long after its caller was told that
		// the outcome is unknown.
		nats.ReconnectBufSize(-1),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Log.Warn("the connection to the cluster is lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { o.Log.Info("connected to the cluster again", "server", c.ConnectedServerName()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Log.Warn("the cluster says", "error", err) }),
	}
	if o.CredsFile != "" {
		opts = append(opts, nats.UserCredentials(o.CredsFile))
	}
	if o.NKeyFile != "" {
		key, err := nats.NkeyOptionFromSeed(o.NKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the nkey of %s: %w", o.NKeyFile, err)
		}
		opts = append(opts, key)
	}
	if o.CAFile != "" {
		opts = append(opts, nats.RootCAs(o.CAFile))
	}
	if o.CertFile != "" {
		opts = append(opts, nats.ClientCert(o.CertFile, o.KeyFile))
	}
	return opts, nil
}
