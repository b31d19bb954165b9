package contexts

import (
	"context"
	"time"

	"agent/internal/cluster"
)

// Health is how the servers of the cluster are.
func (s *Store) Health() (cluster.Health, error) {
	bus, observed := s.o.Bus.(cluster.ObservedBus)
	if !observed {
		return cluster.Health{}, cluster.ErrUnreachable
	}
	ctx, cancel := context.WithTimeout(context.Background(), workersTime)
	defer cancel()
	return bus.Health(ctx)
}

// Workers are the machines that take tasks of the cluster; none where this one is alone.
func (s *Store) Workers() ([]cluster.Info, error) {
	if s.o.Bus == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), workersTime)
	defer cancel()
	return cluster.Workers(ctx, s.o.Bus)
}

// workersTime bounds what a command that only shows waits for.
const workersTime = 5 * time.Second
