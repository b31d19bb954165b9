//go:build noleasecheck

package cluster

// leaseChecked is off in a build that must fail: see `make cluster`.
const leaseChecked = false
