// Package versions has the numbers that a log records of the program that wrote it. It imports
// nothing, so that what only names them starts at once.
package versions

const (
	// Format is the version of the log as a whole, recorded in context.created.
	Format = 1
	// Decisions is the version of what package handlers decides, recorded in process.started.
	Decisions = 3
)
