// Package relay is a network that fails on demand: it stands between clients and one server.
// Tests and the soak use it; the program does not.
package relay

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// Relay passes on what clients and a server say. Its methods may be called by several
// goroutines.
type Relay struct {
	server   string
	listener net.Listener

	mu     sync.Mutex
	cut    bool
	silent chan struct{} // closed when words pass again; nil while they do
	lose   []byte        // the answer to a request that holds this is lost
	lost   int
	conns  map[net.Conn]bool
}

// New listens on loopback for clients of a server.
func New(server string) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return On(l, server), nil
}

// On takes clients of a server from a listener.
func On(l net.Listener, server string) *Relay {
	r := &Relay{server: server, listener: l, conns: map[net.Conn]bool{}}
	go r.serve()
	return r
}

// Addr is the address for clients.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Close ends the relay and all connections.
func (r *Relay) Close() error {
	err := r.listener.Close()
	r.Cut(true)
	r.Silence(false)
	return err
}

// Cut closes all connections and lets no new one through, or lets them through again.
func (r *Relay) Cut(on bool) {
	r.mu.Lock()
	r.cut = on
	r.mu.Unlock()
	if on {
		r.Disconnect()
	}
}

// Disconnect closes all connections. Clients may come back at once.
func (r *Relay) Disconnect() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.Close()
	}
	clear(r.conns)
}

// Silence holds back whatever is sent, on connections that stay open, or lets it pass.
func (r *Relay) Silence(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case on && r.silent == nil:
		r.silent = make(chan struct{})
	case !on && r.silent != nil:
		close(r.silent)
		r.silent = nil
	}
}

// LoseAnswer lets the next request that holds a text pass, and disconnects before its answer.
func (r *Relay) LoseAnswer(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lose = []byte(text)
}

// Lost is how many answers were lost.
func (r *Relay) Lost() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

func (r *Relay) serve() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.connect(client)
	}
}

func (r *Relay) connect(client net.Conn) {
	server, err := net.DialTimeout("tcp", r.server, time.Second)
	if err != nil || !r.admit(client, server) {
		client.Close()
		if err == nil {
			server.Close()
		}
		return
	}
	lost := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		r.pass(server, client, func(data []byte) bool {
			if r.losing(data) {
				close(lost)
				time.AfterFunc(100*time.Millisecond, r.Disconnect) // the server has time to do it
			}
			return true
		})
	})
	both.Go(func() {
		r.pass(client, server, func([]byte) bool {
			select {
			case <-lost:
				return false
			default:
				return true
			}
		})
	})
	both.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
}

// admit notes a connection, unless the relay is cut.
func (r *Relay) admit(client, server net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.cut {
		r.conns[client], r.conns[server] = true, true
	}
	return !r.cut
}

func (r *Relay) losing(data []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lose == nil || !bytes.Contains(data, r.lose) {
		return false
	}
	r.lose = nil
	r.lost++
	return true
}

// pass copies from one side to the other what may arrive.
func (r *Relay) pass(to, from net.Conn, arrives func([]byte) bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		r.hold()
		if !arrives(buf[:n]) {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// hold waits while the relay is silent.
func (r *Relay) hold() {
	r.mu.Lock()
	silent := r.silent
	r.mu.Unlock()
	if silent != nil {
		<-silent
	}
}
