package contexts

import (
	"context"

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
