package main

import "agent/internal/relay"

// namespace is a network of a machine's own: a loopback and nothing else. What it reaches
// outside, it reaches by relays that listen in there.
type namespace struct{ pid int } // of a process that is in it

// network is what lies between a machine and the servers of the cluster: one relay for each
// server.
type network []*relay.Relay

func newNetwork(servers []string) (n network, err error) {
	for _, server := range servers {
		r, err := relay.New(server)
		if err != nil {
			return nil, err
		}
		n = append(n, r)
	}
	return n, nil
}

// newNetworkIn is one for a machine with a network of its own. The forges and the model have their
// addresses in there, too.
func newNetworkIn(space namespace, servers, others []string) (n network, err error) {
	for _, server := range servers {
		r, err := space.relay("127.0.0.1:0", server)
		if err != nil {
			return nil, err
		}
		n = append(n, r)
	}
	for _, other := range others {
		if _, err := space.relay(other, other); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// addresses stand for those of the servers.
func (n network) addresses() (all []string) {
	for _, r := range n {
		all = append(all, r.Addr())
	}
	return all
}

// cut lets nothing through any more, or again.
func (n network) cut(on bool) {
	for _, r := range n {
		r.Cut(on)
	}
}

// silence holds back whatever is sent, or lets it pass.
func (n network) silence(on bool) {
	for _, r := range n {
		r.Silence(on)
	}
}
