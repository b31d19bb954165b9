package report

import (
	"slices"

	"agent/internal/cluster"
)

// ClusterHealth is how the servers of a cluster are.
type ClusterHealth struct {
	cluster.Health
	Whole  bool     `json:"whole"`            // each stream has its leader and complete replicas
	Faults []string `json:"faults,omitempty"` // in words
	Error  string   `json:"error,omitempty"`  // why nothing is known
}

// health asks the servers of the cluster, unless they have not even named the workers: nobody
// wants to wait twice.
func (s Source) health(r *Status) {
	if !s.Config.Cluster.Shared() {
		return
	}
	err := r.silent
	r.Cluster = &ClusterHealth{}
	if err == nil {
		r.Cluster.Health, err = s.Store.Health()
	}
	if err != nil {
		r.Cluster.Error = err.Error()
		return
	}
	r.Cluster.Whole = r.Cluster.Health.Whole()
	if !r.Cluster.Unused() {
		r.Cluster.Faults = s.faults(r.Cluster.Health)
	}
}

// faults says what keeps streams from being whole, each thing once.
func (s Source) faults(h cluster.Health) (all []string) {
	for _, stream := range h.Streams {
		switch {
		case stream.Missing:
			all = append(all, s.text("status.cluster.missing", stream.Name))
		case stream.Error != "":
			all = append(all, s.text("status.cluster.stream", stream.Name))
		case !stream.Leads():
			all = append(all, s.text("status.cluster.leader", stream.Name))
		case len(stream.Others) < stream.Replicas-1:
			all = append(all, s.text("status.cluster.copies", stream.Name, 1+len(stream.Others), stream.Replicas))
		}
		for _, r := range stream.Others {
			if r.Offline {
				all = append(all, s.text("status.cluster.offline", r.Server))
			} else if !r.Current {
				all = append(all, s.text("status.cluster.behind", r.Server))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
