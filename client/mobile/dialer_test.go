package mobile

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// silent starts a server that accepts connections and sends nothing.
func silent(t *testing.T) (address string, accepted chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted = make(chan net.Conn, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), accepted
}

// With Plaintext the dialer sends no packet to another machine, whatever the address. So this test
// needs no network, although it uses documentation addresses.
func TestDialerRefusesPlaintext(t *testing.T) {
	d := &dialer{ctx: t.Context(), plaintext: true, traffic: &traffic{}, within: dialWithin}
	for _, address := range []string{"192.0.2.1:4222", "[2001:db8::1]:4222", "198.51.100.7:1"} {
		_, err := d.Dial("tcp", address)
		if err == nil || connectCode(err) != CodeInsecure {
			t.Errorf("%s: %v, want code %q", address, err, CodeInsecure)
		}
	}
	address, _ := silent(t)
	_, port, _ := net.SplitHostPort(address)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		conn, err := d.Dial("tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		conn.Close()
	}
}

// A socket counts the bytes that pass through it, and closes when its context ends.
func TestDialerCounts(t *testing.T) {
	address, accepted := silent(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var n traffic
	d := &dialer{ctx: ctx, traffic: &n, within: dialWithin}
	conn, err := d.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	other := <-accepted
	conn.Write([]byte("hello"))
	buf := make([]byte, 100)
	if got, err := other.Read(buf); got != 5 || err != nil {
		t.Fatalf("%d, %v", got, err)
	}
	other.Write([]byte("hi"))
	if got, err := conn.Read(buf); got != 2 || err != nil {
		t.Fatalf("%d, %v", got, err)
	}
	if n.sent.Load() != 5 || n.received.Load() != 2 {
		t.Errorf("%d sent, %d received, want 5 and 2", n.sent.Load(), n.received.Load())
	}
	late := time.AfterFunc(patience, func() { other.Close() })
	cancel()
	if _, err := conn.Read(buf); err == nil || !late.Stop() {
		t.Errorf("the socket outlived its context: %v", err)
	}
	if _, err := d.Dial("tcp", address); err == nil {
		t.Error("dialed after its context ended")
	}
}

// The dialer closes the socket of a failed attempt before the next attempt, even if NATS does not.
// So a server that refuses a device for a week costs only one socket.
func TestDialerKeepsOneSocket(t *testing.T) {
	address, accepted := silent(t)
	d := &dialer{ctx: t.Context(), traffic: &traffic{}, within: dialWithin}
	for range 3 {
		if _, err := d.Dial("tcp", address); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		conn := <-accepted
		hungUp(t, conn)
		conn.Close()
	}
	last := <-accepted
	defer last.Close()
	d.hangUp()
	hungUp(t, last)
}

// The client gives up a websocket server that accepts connections and sends nothing, like such a
// NATS server. Without the deadline NATS would wait forever for the TLS handshake.
func TestDialerSetsDeadline(t *testing.T) {
	address, accepted := silent(t)
	d := &dialer{ctx: t.Context(), traffic: &traffic{}, within: time.Millisecond}
	conn, err := d.Dial("tcp", address)
	for ; os.IsTimeout(err); conn, err = d.Dial("tcp", address) {
		d.within *= 2 // this machine takes longer to connect
	}
	if err != nil {
		t.Fatal(err)
	}
	defer (<-accepted).Close()
	late := time.AfterFunc(patience, func() { conn.Close() })
	defer late.Stop()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read: got %v, want its deadline", err)
	}
}

// A server that accepts connections and sends nothing blocks no method of the client. Neither Stop
// nor Reconnect waits for the server, even if there are several such servers, and all other methods
// return at once.
func TestSilentServers(t *testing.T) {
	for _, servers := range []int{1, 3} {
		cfg := config()
		cfg.servers = nil
		accepted := make(chan net.Conn, 100)
		for range servers {
			address, conns := silent(t)
			if err := cfg.AddServer("nats://" + address); err != nil {
				t.Fatal(err)
			}
			go func() {
				if servers > 1 {
					(<-conns).Close() // the first attempts fail at once
				}
				accepted <- <-conns
			}()
		}
		told := &listener{}
		cfg.SetListener(told)
		c := made(t, cfg)
		result := running(t, c)
		held := <-accepted // the client waits for a greeting
		defer held.Close()
		prompt(t, "Reconnect", c.Reconnect)
		hungUp(t, held)
		prompt(t, "SetNetwork", func() { c.SetNetwork(true, false); c.SetNetwork(true, true) })
		prompt(t, "State", func() { c.State() })
		prompt(t, "Stop", c.Stop)
		began := time.Now()
		if err := ends(t, result); err != nil {
			t.Error(err)
		}
		if d := time.Since(began); d > soon {
			t.Errorf("%d servers: Run returned %v after Stop", servers, d)
		}
		for _, said := range told.heard() {
			if strings.Contains(said, "cancel") || strings.Contains(said, "closed network") {
				t.Errorf("told of %q, which is not a fault", said)
			}
		}
	}
}

// hungUp fails the test unless the other side closes the connection well before a
// connection attempt would time out.
func hungUp(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the attempt continues")
	}
}

// However often an app calls Reconnect, only one call waits for NATS.
func TestReconnectsDoNotPile(t *testing.T) {
	address, accepted := silent(t)
	cfg := configAt(t, address)
	c := made(t, cfg)
	result := running(t, c)
	(<-accepted).Close() // NATS's first attempt is not interrupted
	for {
		c.mu.Lock()
		connected := c.nc != nil
		c.mu.Unlock()
		if connected {
			break
		}
		pause()
	}
	c.Reconnect()
	defer (<-accepted).Close() // another attempt holds NATS's lock
	c.mu.Lock()
	c.status.online = true // as before NATS reported a loss
	c.mu.Unlock()
	before := runtime.NumGoroutine()
	for range 100 {
		c.Reconnect()
	}
	if n := runtime.NumGoroutine() - before; n > 10 {
		t.Errorf("%d more goroutines after 100 calls", n)
	}
	c.Stop()
	if err := ends(t, result); err != nil {
		t.Error(err)
	}
}

// nameServer is the address that resolves names which the system does not know.
var nameServer atomic.Value

func init() {
	nameServer.Store("127.0.0.1:1")
	net.DefaultResolver = &net.Resolver{PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, nameServer.Load().(string))
		}}
}

// A name server that does not answer blocks no method of the client either.
func TestSilentNameServer(t *testing.T) {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	nameServer.Store(l.LocalAddr().String())
	cfg := config()
	cfg.servers, cfg.Plaintext = nil, false
	if err := cfg.AddServer("tls://zofl.example.org"); err != nil {
		t.Fatal(err)
	}
	c := made(t, cfg)
	result := running(t, c)
	if _, _, err := l.ReadFrom(make([]byte, 512)); err != nil { // the dialer asks the name server
		t.Fatal(err)
	}
	prompt(t, "Reconnect", c.Reconnect)
	prompt(t, "Stop", c.Stop)
	began := time.Now()
	if err := ends(t, result); err != nil {
		t.Error(err)
	}
	if d := time.Since(began); d > soon {
		t.Errorf("Run returned %v after Stop", d)
	}
}

// A late call of a handler of an earlier Run's connection changes nothing.
func TestLateHandlers(t *testing.T) {
	told := &listener{}
	cfg := config()
	cfg.SetListener(told)
	c := made(t, cfg)
	run, cancel := context.WithCancel(t.Context())
	c.online(run, true, nil)
	if !c.latest().online {
		t.Error("not online after a connection opened")
	}
	cancel()
	c.events.settle(patience)
	told.heard()
	c.online(run, false, net.ErrClosed)
	c.events.settle(patience)
	if said := told.heard(); !c.latest().online || len(said) != 0 {
		t.Errorf("online: %v, told %q of a Run that is over", c.latest().online, said)
	}
}

// soon is much shorter than the time limit of a connection attempt, and long enough for a busy
// machine.
const soon = 3 * dialWithin / 4

// prompt fails the test unless f returns without waiting for a connection attempt.
func prompt(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(soon):
		t.Errorf("%s did not return within %v", what, soon)
		<-done
	}
}
