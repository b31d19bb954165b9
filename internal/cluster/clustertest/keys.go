package clustertest

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"agent/internal/cluster"
)

// Key implements [cluster.Keys].
func (m *Memory) Key(ctx context.Context, key string) (value cluster.Value, err error) {
	err = m.ask(ctx, func() error {
		found, there := m.c.keys[key]
		if !there {
			return fmt.Errorf("key %s: %w", key, cluster.ErrMissing)
		}
		value = found
		value.Data = bytes.Clone(found.Data)
		return nil
	})
	return value, err
}

func (c *Cluster) expect(key string, revision uint64) error {
	if now := c.keys[key].Revision; now != revision {
		return fmt.Errorf("key %s has revision %d, not %d: %w", key, now, revision, cluster.ErrStale)
	}
	return nil
}

// SetKey implements [cluster.Keys].
func (m *Memory) SetKey(ctx context.Context, key string, data []byte, revision uint64) (made uint64, err error) {
	err = m.changeAnswered(ctx, func() error {
		if err := m.c.expect(key, revision); err != nil {
			return err
		}
		m.c.rev++
		made = m.c.rev
		m.c.keys[key] = cluster.Value{Key: key, Data: bytes.Clone(data), Revision: made}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return made, nil
}

// DeleteKey implements [cluster.Keys].
func (m *Memory) DeleteKey(ctx context.Context, key string, revision uint64) error {
	return m.changeAnswered(ctx, func() error {
		if err := m.c.expect(key, revision); err != nil {
			return err
		}
		if revision == 0 {
			return nil
		}
		m.c.rev++
		delete(m.c.keys, key)
		m.c.deleted = append(m.c.deleted, cluster.Value{Key: key, Revision: m.c.rev, Deleted: true})
		return nil
	})
}

// WatchKeys implements [cluster.Keys].
func (m *Memory) WatchKeys(ctx context.Context, prefix string) iter.Seq2[cluster.Value, error] {
	return func(yield func(cluster.Value, error) bool) {
		var seen uint64
		for first := true; ; first = false {
			var news []cluster.Value
			err := m.await(ctx, func() (bool, error) {
				news = m.c.since(prefix, seen, first)
				seen = m.c.rev
				return first || len(news) > 0, nil
			})
			if err != nil {
				yield(cluster.Value{}, err)
				return
			}
			for _, v := range news {
				if !yield(v, nil) {
					return
				}
			}
			if first && !yield(cluster.Value{}, nil) {
				return
			}
		}
	}
}

// since gives what changed after a revision, in order; of several changes of a key the last.
func (c *Cluster) since(prefix string, seen uint64, first bool) []cluster.Value {
	all := slices.Collect(maps.Values(c.keys))
	if !first {
		for _, d := range c.deleted {
			if d.Revision > c.keys[d.Key].Revision {
				all = append(all, d)
			}
		}
	}
	all = slices.DeleteFunc(all, func(v cluster.Value) bool {
		return v.Revision <= seen || !strings.HasPrefix(v.Key, prefix)
	})
	slices.SortFunc(all, func(a, b cluster.Value) int { return int(a.Revision) - int(b.Revision) })
	return all
}
