//go:build nofence

package jetstream

// fenced is off in a build that must fail: see `make cluster`.
const fenced = false
