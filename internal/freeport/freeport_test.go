package freeport

import (
	"net"
	"testing"
)

// TestFind: the ports differ, can be listened at, and are none that the kernel gives to others.
func TestFind(t *testing.T) {
	ports, err := Find(50)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range ports {
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		other, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if given := other.Addr().(*net.TCPAddr).Port; seen[port] || port < low || port > high || given >= low && given <= high {
			t.Errorf("port %d of %v; the kernel gives %d", port, ports, given)
		}
		seen[port] = true
	}
}
