package main

import (
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"agent/internal/relay"
)

// within does something in the namespace. Its thread ends with it.
func (n namespace) within(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: nobody else gets this thread
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", n.pid))
		if err == nil {
			err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
			f.Close()
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// relay makes a server outside reachable at an address inside.
func (n namespace) relay(address, server string) (r *relay.Relay, err error) {
	err = n.within(func() error {
		l, err := net.Listen("tcp", address)
		if err == nil {
			r = relay.On(l, server)
		}
		return err
	})
	return r, err
}

// connect lets the network work, or nothing pass any more: connections stay open, and hang.
func (n namespace) connect(on bool) error {
	return n.within(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		loopback, err := unix.NewIfreq("lo")
		if err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, loopback)
		}
		if err != nil {
			return err
		}
		flags := loopback.Uint16() &^ unix.IFF_UP
		if on {
			flags |= unix.IFF_UP
		}
		loopback.SetUint16(flags)
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, loopback)
	})
}
