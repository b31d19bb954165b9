package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// Workers are those of a cluster that take tasks, by name, for those who are none
// themselves. One that has gone is among them until its lease has run out.
func Workers(ctx context.Context, bus Bus) (all []Info, err error) {
	for v, err := range bus.WatchKeys(ctx, "sessions/") {
		if errors.Is(err, ErrMissing) { // no worker was ever there
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if v.Key == "" {
			break
		}
		var info Info
		if json.Unmarshal(v.Data, &info) == nil && info.Capacity > 0 {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.PID, b.PID)) })
	return all, nil
}
