package natstest

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy stands between clients and one server, and cuts their connections.
type Proxy struct {
	server   string
	listener net.Listener

	mu    sync.Mutex
	lose  []byte // the answer to a request that holds this is lost
	cuts  int
	deaf  bool // nothing passes
	conns map[net.Conn]bool
}

// NewProxy makes a proxy for a server that is alone: of others a client would learn.
func (s *Servers) NewProxy(t testing.TB) *Proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{server: s.URLs()[0][len("nats://"):], listener: l, conns: map[net.Conn]bool{}}
	go p.serve()
	t.Cleanup(func() {
		l.Close()
		p.Cut()
	})
	return p
}

// URL is the address for clients.
func (p *Proxy) URL() string { return "nats://" + p.listener.Addr().String() }

// LoseAnswer lets the next request that holds a text pass, and cuts the connection before
// its answer.
func (p *Proxy) LoseAnswer(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = []byte(text)
}

// Cuts is how many answers were lost.
func (p *Proxy) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Silence lets nothing pass any more, without a word to anybody, or lets it pass again.
func (p *Proxy) Silence(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = on
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		lost := make(chan struct{})
		go p.pass(server, client, func(data []byte) {
			if p.losing(data) {
				close(lost)
				time.AfterFunc(100*time.Millisecond, p.Cut) // the server has time to do it
			}
		}, nil)
		go p.pass(client, server, nil, lost)
	}
}

func (p *Proxy) losing(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lose == nil || !bytes.Contains(data, p.lose) {
		return false
	}
	p.lose = nil
	p.cuts++
	return true
}

// pass copies what comes from one side, until lost is closed.
func (p *Proxy) pass(to, from net.Conn, see func([]byte), lost <-chan struct{}) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if see != nil {
			see(buf[:n])
		}
		for p.silent() {
			time.Sleep(10 * time.Millisecond)
		}
		select {
		case <-lost:
			continue // and nobody hears it
		default:
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (p *Proxy) silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deaf
}
