// Package sdnotify tells systemd how a service is: that it is ready, that it goes on, that
// it ends. It is the protocol of sd_notify(3): datagrams to the socket that the variable
// NOTIFY_SOCKET names. Where there is none, nothing is told.
package sdnotify

import (
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Service tells systemd. The zero value tells nobody. A message that cannot be sent is
// left out: systemd takes silence for what it is.
type Service struct {
	socket string
	every  time.Duration // of the watchdog; 0: there is none
}

// New reads the environment of a service.
func New(getenv func(string) string) Service {
	s := Service{socket: getenv("NOTIFY_SOCKET")}
	us, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if pid := getenv("WATCHDOG_PID"); err == nil && us > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		s.every = time.Duration(us) * time.Microsecond
	}
	return s
}

// Watchdog is how often a sign of life is due at least; 0: nobody waits for one.
func (s Service) Watchdog() time.Duration {
	if s.socket == "" {
		return 0
	}
	return s.every
}

// Ready says that the service does its work from now on.
func (s Service) Ready() { s.send("READY=1") }

// Alive is a sign of life.
func (s Service) Alive() { s.send("WATCHDOG=1") }

// Stopping says that the service is about to end.
func (s Service) Stopping() { s.send("STOPPING=1") }

func (s Service) send(message string) {
	if s.socket == "" {
		return
	}
	name := s.socket
	if strings.HasPrefix(name, "@") {
		name = "\x00" + name[1:] // a socket without a file
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(message)) // see Service
}
