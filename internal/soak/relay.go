package main

import (
	"net"
	"sync"
	"time"
)

// relay is the network between a machine and the servers of the cluster: one listener for
// each server. It can be cut, and it can be silent, which nobody is told.
type relay struct {
	listeners []net.Listener
	servers   []string

	mu     sync.Mutex
	cut    bool
	silent chan struct{} // closed when words pass again; nil while they do
	conns  map[net.Conn]bool
}

func newRelay(servers []string) (*relay, error) {
	r := &relay{servers: servers, conns: map[net.Conn]bool{}}
	for _, server := range servers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		r.listeners = append(r.listeners, l)
		go r.serve(l, server)
	}
	return r, nil
}

// addresses stand for those of the servers.
func (r *relay) addresses() (all []string) {
	for _, l := range r.listeners {
		all = append(all, l.Addr().String())
	}
	return all
}

// setCut closes all connections and takes no new ones, or takes them again.
func (r *relay) setCut(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut = cut; cut {
		for c := range r.conns {
			c.Close()
		}
	}
}

// setSilent keeps back all that is said, or lets it pass.
func (r *relay) setSilent(silent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case silent && r.silent == nil:
		r.silent = make(chan struct{})
	case !silent && r.silent != nil:
		close(r.silent)
		r.silent = nil
	}
}

func (r *relay) serve(l net.Listener, server string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go r.connect(client, server)
	}
}

func (r *relay) connect(client net.Conn, server string) {
	there, err := net.DialTimeout("tcp", server, time.Second)
	if err != nil {
		client.Close()
		return
	}
	r.mu.Lock()
	if r.cut {
		client.Close()
		there.Close()
	}
	r.conns[client], r.conns[there] = true, true
	r.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { r.pass(there, client) })
	both.Go(func() { r.pass(client, there) })
	both.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, there)
}

func (r *relay) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		r.mu.Lock()
		silent := r.silent
		r.mu.Unlock()
		if silent != nil {
			<-silent
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
