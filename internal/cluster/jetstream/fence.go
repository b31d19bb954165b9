//go:build !nofence

package jetstream

// fenced: each line states the position that it follows.
const fenced = true
