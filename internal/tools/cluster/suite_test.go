package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	bus "agent/internal/cluster"
	"agent/internal/cluster/clustertest"
	"agent/internal/cluster/jetstream"
	"agent/internal/tools/cluster/natstest"
)

func open(t testing.TB, o jetstream.Options) *jetstream.Bus {
	t.Helper()
	if o.Name == "" {
		o.Name = "test"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	b, err := jetstream.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestSuite(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			servers := natstest.Start(t, n)
			o := jetstream.Options{URLs: servers.URLs(), Replicas: n, AckWait: 2 * time.Second}
			clustertest.Suite(t, [2]bus.Bus{open(t, o), open(t, o)}, o.AckWait)
		})
	}
}
