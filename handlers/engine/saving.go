//go:build !nosave

package engine

// saving is off in a build that is only compared with: see internal/bench.
const saving = true
