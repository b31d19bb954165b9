// Package freeport finds ports for servers of tests that are told where to listen.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The kernel gives connections, and listeners at port 0, higher ports than these on Linux (32768 and
// more) and macOS (49152 and more). So nothing takes a port of these between its test and its use,
// nor while its server is down.
const low, high = 10240, 32767

// Find gives n ports of 127.0.0.1 that are free.
func Find(n int) (ports []int, err error) {
	for range n {
		port, l, err := listen()
		if err != nil {
			return nil, err
		}
		defer l.Close() // no sooner, so that none comes twice
		ports = append(ports, port)
	}
	return ports, nil
}

func listen() (port int, l net.Listener, err error) {
	for range 100 {
		port = low + rand.IntN(high-low+1)
		if l, err = net.Listen("tcp", Address(port)); err == nil {
			return port, l, nil
		}
	}
	return 0, nil, err
}

// Address is that of a port of this machine.
func Address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
