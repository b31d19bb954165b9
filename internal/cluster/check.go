//go:build !noleasecheck

package cluster

// leaseChecked: an effect needs a fresh lease, and ends with it.
const leaseChecked = true
