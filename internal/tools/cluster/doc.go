// Package cluster tests the bus of internal/cluster/jetstream against real NATS servers.
package cluster
