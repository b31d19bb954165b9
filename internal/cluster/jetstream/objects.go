package jetstream

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"agent/internal/cluster"
)

// An object is a message NAME.objects.end.<name>, which holds it whole if it is small. A
// larger one has parts NAME.objects.<n>.<name>, and the message at the end tells their
// number and hash. It is written last: without it there is no object.

const (
	partSize    = 512 << 10
	partsAtOnce = 8
	endPart     = "end"

	headerParts = "Agent-Parts"
	headerHash  = "Agent-SHA256"
)

// Objects of the port are below "object.", large lines below "line.".
const objectRoot = "object."

func largeRoot(uuid string) string { return "line." + uuid + "." }

func (b *Bus) partSubject(part, name string) string {
	return b.o.Name + ".objects." + part + "." + name
}

// PutObject implements [cluster.Objects].
func (b *Bus) PutObject(ctx context.Context, name string, data []byte) error {
	t, err := tokens(name)
	if err != nil {
		return err
	}
	return b.putParts(ctx, objectRoot+t, data)
}

func (b *Bus) putParts(ctx context.Context, name string, data []byte) error {
	ctx, cancel := b.bounded(ctx)
	defer cancel()
	end := &nats.Msg{Subject: b.partSubject(endPart, name), Header: nats.Header{headerHash: {hex.EncodeToString(sum(data))}}}
	size := min(partSize, b.room())
	if len(data) <= size {
		end.Data = data
	} else {
		n := (len(data) + size - 1) / size
		end.Header[headerParts] = []string{strconv.Itoa(n)}
		if last, err := b.latest(ctx, b.objects(), end.Subject); err != nil || last.Seq != 0 && last.Header.Get(headerHash) == end.Header.Get(headerHash) {
			return err
		}
		err := atOnce(n, func(i int) error {
			part := &nats.Msg{Subject: b.partSubject(strconv.Itoa(i), name), Data: data[i*size : min((i+1)*size, len(data))]}
			_, err := b.publish(part)(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err := b.publish(end)(ctx)
	return err
}

// atOnce does n things, some of them at a time.
func atOnce(n int, do func(int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	turns := make(chan struct{}, partsAtOnce)
	for i := range n {
		turns <- struct{}{}
		group.Go(func() {
			errs[i] = do(i)
			<-turns
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// Object implements [cluster.Objects].
func (b *Bus) Object(ctx context.Context, name string) ([]byte, error) {
	t, err := tokens(name)
	if err != nil {
		return nil, err
	}
	return b.parts(ctx, objectRoot+t)
}

func (b *Bus) parts(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := b.bounded(ctx)
	defer cancel()
	end, err := b.latest(ctx, b.objects(), b.partSubject(endPart, name))
	if err == nil && end.Seq == 0 {
		err = fmt.Errorf("object %s: %w", name, cluster.ErrMissing)
	}
	if err != nil {
		return nil, err
	}
	data := end.Data
	if n, _ := strconv.Atoi(end.Header.Get(headerParts)); n > 0 {
		all := make([][]byte, n)
		err := atOnce(n, func(i int) error {
			part, err := b.direct(ctx, b.objects(), b.partSubject(strconv.Itoa(i), name))
			all[i] = part.Data
			return err
		})
		if err != nil {
			return nil, err
		}
		data = slices.Concat(all...)
	}
	if hex.EncodeToString(sum(data)) != end.Header.Get(headerHash) {
		return nil, fmt.Errorf("object %s is damaged: %w", name, cluster.ErrMissing)
	}
	return data, nil
}

// ObjectNames implements [cluster.Objects].
func (b *Bus) ObjectNames(ctx context.Context, prefix string) ([]string, error) {
	t, err := filter(prefix)
	if err != nil {
		return nil, err
	}
	root := b.partSubject(endPart, objectRoot)
	info, err := b.state(ctx, b.objects(), jetstream.WithSubjectFilter(root+t))
	if err != nil {
		return nil, err
	}
	var names []string
	for subject := range info.State.Subjects {
		names = append(names, name(strings.TrimPrefix(subject, root)))
	}
	return names, nil
}

// RemoveObjects implements [cluster.Objects]. The messages at the end go first.
func (b *Bus) RemoveObjects(ctx context.Context, prefix string) error {
	t, err := filter(prefix)
	if err != nil {
		return err
	}
	if err := b.purge(ctx, b.objects(), b.partSubject(endPart, objectRoot+t)); err != nil {
		return err
	}
	return b.purge(ctx, b.objects(), b.partSubject("*", objectRoot+t))
}
