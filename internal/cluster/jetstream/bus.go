// Package jetstream is the bus of a cluster on NATS JetStream. Of a cluster NAME there are
// four streams, all on disk and with the same number of replicas:
//
//	NAME_history  NAME.history.<uuid>         lines; the position is the stream's sequence
//	NAME_objects  NAME.objects.<part>.<name>  parts of objects, and of lines that are too large
//	KV_NAME_keys  $KV.NAME_keys.<key>         a bucket of keys, as other programs know it
//	NAME_queue    NAME.queue.<lane>.<id>      jobs; a consumer for each lane
//
// An append is a message that expects the last sequence of its subject, which the leader
// of the stream checks. So it may be sent again until it is answered: it is stored once,
// and the header tells our own line from another worker's.
//
// What must be the latest is asked from the leader of a stream; what never changes, as
// lines at known positions and parts of objects, comes from any replica.
package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

// Bus is a connection to the servers. It implements [cluster.Bus].
type Bus struct {
	o    Options
	nc   *nats.Conn
	js   jetstream.JetStream
	live context.Context // until Close
	stop context.CancelFunc
	take taker
}

var _ cluster.Bus = (*Bus)(nil)

func (b *Bus) history() string { return b.o.Name + "_history" }
func (b *Bus) objects() string { return b.o.Name + "_objects" }
func (b *Bus) keys() string    { return "KV_" + b.o.Name + "_keys" }
func (b *Bus) queue() string   { return b.o.Name + "_queue" }

// Open connects, and makes what is missing of the cluster unless it is to be left as it is.
// Several workers may do that at once.
func Open(ctx context.Context, o Options) (*Bus, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	opts, err := o.connection(ctx)
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(strings.Join(o.URLs, ","), opts...)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w: %w", cluster.ErrUnreachable, err)
	}
	b := &Bus{o: o, nc: nc}
	b.live, b.stop = context.WithCancel(context.Background())
	if b.js, err = jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(16384), jetstream.WithPublishAsyncTimeout(time.Minute)); err == nil && !o.NoCreate {
		err = b.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close ends the connection.
func (b *Bus) Close() error {
	b.stop()
	b.nc.Close()
	return nil
}

func (b *Bus) streams() []jetstream.StreamConfig {
	subject := func(part string) []string { return []string{b.o.Name + "." + part + ".>"} }
	all := []jetstream.StreamConfig{
		{Name: b.history(), Subjects: subject("history"), AllowDirect: true, Discard: jetstream.DiscardNew},
		{Name: b.objects(), Subjects: subject("objects"), AllowDirect: true, MaxMsgsPerSubject: 1},
		// A key is asked from the leader: it must be the latest. A mark that a key was deleted ends by itself.
		{Name: b.keys(), Subjects: []string{"$KV." + b.o.Name + "_keys.>"}, MaxMsgsPerSubject: 1, AllowRollup: true,
			DenyDelete: true, AllowMsgTTL: true, SubjectDeleteMarkerTTL: deletedFor, Discard: jetstream.DiscardNew},
		// A job of a subject that waits or is worked on keeps others of its id out.
		{Name: b.queue(), Subjects: subject("queue"), Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1,
			Discard: jetstream.DiscardNew, DiscardNewPerSubject: true},
	}
	for i := range all {
		all[i].Storage = jetstream.FileStorage
		all[i].Replicas = b.o.Replicas
		all[i].Duplicates = time.Minute
	}
	return all
}

// prepare makes the streams that are missing and checks the others.
func (b *Bus) prepare(ctx context.Context) error {
	ctx, cancel := b.bounded(ctx)
	defer cancel()
	all := b.streams()
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, config := range all {
		group.Go(func() { errs[i] = b.prepareStream(ctx, config) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (b *Bus) prepareStream(ctx context.Context, config jetstream.StreamConfig) error {
	return b.retry(ctx, "prepare the stream "+config.Name, func(ctx context.Context) error {
		s, err := b.js.Stream(ctx, config.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = b.js.CreateStream(ctx, config)
			if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
				s, err = b.js.Stream(ctx, config.Name)
			}
		}
		if err != nil {
			return err
		}
		is := s.CachedInfo().Config
		switch {
		case is.Replicas != config.Replicas:
			return final{fmt.Errorf("the stream has %d replicas, not %d as configured", is.Replicas, config.Replicas)}
		case is.Storage != jetstream.FileStorage || is.Retention != config.Retention || max(is.MaxMsgsPerSubject, 0) != config.MaxMsgsPerSubject ||
			is.MaxMsgs > 0 || is.MaxBytes > 0 || is.MaxAge > 0:
			return final{errors.New("the stream is of another kind, or has limits and would lose what is old")}
		}
		return nil
	})
}
