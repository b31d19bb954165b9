package relay

import (
	"bufio"
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// echo is a server that repeats lines.
func echo(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for in := bufio.NewScanner(c); in.Scan(); {
					_, _ = c.Write(append(in.Bytes(), '\n'))
				}
			}()
		}
	}()
	return l.Addr().String()
}

// client says a line, and hears the answer or why there is none.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, r *Relay) client {
	t.Helper()
	c, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return client{c, bufio.NewReader(c)}
}

func (c client) ask(line string, wait time.Duration) (string, error) {
	_, _ = c.Write([]byte(line + "\n"))
	_ = c.SetReadDeadline(time.Now().Add(wait))
	return c.in.ReadString('\n')
}

func TestRelay(t *testing.T) {
	r, err := New(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	const long = 10 * time.Second
	c := dial(t, r)
	if got, err := c.ask("one", long); got != "one\n" {
		t.Fatalf("%q, %v", got, err)
	}
	r.Silence(true)
	if got, err := c.ask("two", 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("while it is silent it says %q, %v", got, err)
	}
	r.Silence(false)
	if got, err := c.ask("three", long); got != "two\n" {
		t.Errorf("what was held back is %q, %v", got, err)
	}
	r.Disconnect()
	for line := ""; err == nil; line, err = c.ask("four", long) {
		if line == "four\n" {
			t.Fatal("it goes on after it was disconnected")
		}
	}
	r.Cut(true)
	if got, err := dial(t, r).ask("five", long); err == nil {
		t.Errorf("while it is cut it says %q", got)
	}
	r.Cut(false)
	c = dial(t, r)
	r.LoseAnswer("six")
	if got, err := c.ask("six", long); err == nil {
		t.Errorf("the answer that was to be lost is %q", got)
	}
	if r.Lost() != 1 {
		t.Errorf("%d answers were lost", r.Lost())
	}
	if got, err := dial(t, r).ask("seven", long); got != "seven\n" {
		t.Errorf("after all that it says %q, %v", got, err)
	}
}
