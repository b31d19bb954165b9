package contexts

import "agent/internal/fsx"

// Empty is a store without contexts, for commands that only read where there is
// no contexts directory. Its writing methods return [ErrReadOnly].
func Empty(o Options) (*Store, error) {
	o.ReadOnly = true
	return Open(fsx.Empty{}, o)
}
