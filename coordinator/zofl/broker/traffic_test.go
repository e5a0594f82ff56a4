package broker

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// pingPong is the length of "PING\r\n" and of "PONG\r\n".
const pingPong = 6

// flush waits until everything sent so far has arrived. It costs one PING up and one PONG down.
func flush(t *testing.T, nc *nats.Conn) {
	t.Helper()
	if err := nc.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
}

// cost returns how many bytes one run of step adds to the traffic. cost returns the least of three
// runs, because the server sends one PING of its own in the first seconds of a connection.
func cost(traffic *Traffic, step func()) (up, down int64) {
	up, down = 1<<62, 1<<62
	for range 3 {
		u, d := traffic.Up(), traffic.Down()
		step()
		up, down = min(up, traffic.Up()-u), min(down, traffic.Down()-d)
	}
	return up, down
}

// The protocol's arithmetic: "PUB <subject> <n>\r\n<payload>\r\n" up,
// "MSG <subject> <sid> <n>\r\n<payload>\r\n" down.
func TestTrafficOfOneMessage(t *testing.T) {
	for name, cfg := range kinds {
		for _, subject := range []string{"a", "zo.r1.p.17.0a1b2c3d"} {
			for _, size := range []int{0, 9, 100, 1000, 40000} {
				t.Run(fmt.Sprint(name, "/", subject, "/", size), func(t *testing.T) {
					b := run(t, cfg)
					from, sent := dial(t, b, "from")
					to, received := dial(t, b, "to")
					sub, err := to.SubscribeSync(subject) // its sid is 1
					if err != nil {
						t.Fatal(err)
					}
					flush(t, to)
					payload := make([]byte, size)
					frame := len(subject) + len(fmt.Sprint(size)) + size
					publish := func() {
						if err := from.Publish(subject, payload); err != nil {
							t.Fatal(err)
						}
						flush(t, from)
					}

					up, down := cost(sent, publish)
					if want := int64(frame + len("PUB ") + len(" ") + 2*len("\r\n") + pingPong); up != want {
						t.Errorf("PUB and PING cost %d bytes, want %d", up, want)
					}
					if down != pingPong {
						t.Errorf("PONG costs %d bytes, want %d", down, pingPong)
					}
					for range 3 { // of the measurement above
						if _, err := sub.NextMsg(patience); err != nil {
							t.Fatal(err)
						}
					}

					up, down = cost(received, func() {
						publish()
						if _, err := sub.NextMsg(patience); err != nil {
							t.Fatal(err)
						}
					})
					if want := int64(frame + len("MSG ") + len(" 1 ") + 2*len("\r\n")); down != want {
						t.Errorf("MSG costs %d bytes, want %d", down, want)
					}
					if up != 0 {
						t.Errorf("receiving costs %d bytes up", up)
					}
				})
			}
		}
	}
}

// A Traffic counts the greetings: INFO, CONNECT, PING, PONG.
func TestTrafficOfConnecting(t *testing.T) {
	for name, cfg := range kinds {
		t.Run(name, func(t *testing.T) {
			b := run(t, cfg)
			// The least of three, as in cost.
			least := func(name string) (up, down int64) {
				up, down = 1<<62, 1<<62
				for range 3 {
					_, traffic := dial(t, b, name)
					up, down = min(up, traffic.Up()), min(down, traffic.Down())
				}
				return up, down
			}
			up, down := least("x")
			long, _ := least("x" + strings.Repeat("y", 50))
			if got := long - up; got != 50 {
				t.Errorf("a name longer by 50 bytes costs %d more", got)
			}
			if up < 100 || up > 400 {
				t.Errorf("CONNECT and PING cost %d bytes", up)
			}
			if down < 200 || down > 2000 {
				t.Errorf("INFO and PONG cost %d bytes", down)
			}
		})
	}
}

// After a reconnect, the Traffic adds the bytes of the new socket.
func TestTrafficOverReconnects(t *testing.T) {
	for name, cfg := range kinds {
		t.Run(name, func(t *testing.T) {
			again := make(chan struct{}, 1)
			nc, traffic := dial(t, run(t, cfg), "client",
				nats.ReconnectHandler(func(*nats.Conn) { again <- struct{}{} }))
			up, down := traffic.Up(), traffic.Down()
			if n := traffic.Dials(); n != 1 {
				t.Errorf("got %d dials, want 1", n)
			}
			if err := nc.ForceReconnect(); err != nil {
				t.Fatal(err)
			}
			wait(t, again, "reconnect")
			flush(t, nc)
			if traffic.Dials() != 2 || traffic.Up() < 2*up || traffic.Down() < 2*down {
				t.Errorf("after reconnecting: %d dials, %d up and %d down; before: %d and %d",
					traffic.Dials(), traffic.Up(), traffic.Down(), up, down)
			}
		})
	}
}

// Compare the counts with those at the other end of a plain TCP socket.
func TestTrafficCountsTheSocket(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan int64, 1)
	go func() {
		defer close(heard)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		n, err := io.Copy(c, io.LimitReader(c, 12345)) // an echo
		if err == nil {
			heard <- n
		}
	}()
	var traffic Traffic
	c, err := traffic.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go io.Copy(c, strings.NewReader(strings.Repeat("x", 12345)))
	back, err := io.Copy(io.Discard, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != 12345 || back != 12345 || traffic.Up() != 12345 ||
		traffic.Down() != 12345 {
		t.Errorf("sent 12345 bytes: the other end heard %d, %d came back; counted %d up, %d down",
			got, back, traffic.Up(), traffic.Down())
	}
}
