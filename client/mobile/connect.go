package mobile

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
)

// traffic counts bytes at the socket, TLS included.
type traffic struct{ sent, received atomic.Int64 }

// dialWithin is how long a socket may take to open: NATS tells a custom dialer no
// timeout.
const dialWithin = 20 * time.Second

// A dialer opens sockets that end with ctx, one at a time. Without TLS it opens none
// to another machine, whatever a name or another server made of the address.
type dialer struct {
	ctx       context.Context
	plaintext bool
	traffic   *traffic
	within    time.Duration // for a socket to open, and for NATS to begin

	mu     sync.Mutex // guards latest
	latest context.CancelFunc
}

var _ nats.CustomDialer = (*dialer)(nil)

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(d.ctx)
	d.replace(cancel) // NATS leaves the socket of an attempt that failed open
	// TCP's probes would wake the radio every 15 s; NATS's pings do every 4 minutes.
	to := net.Dialer{Timeout: d.within, Control: d.allow, KeepAlive: -1}
	conn, err := to.DialContext(ctx, network, address)
	if err != nil {
		cancel()
		return nil, err
	}
	// NATS sets a deadline of its own, but not for the TLS of wss://.
	if err := conn.SetDeadline(time.Now().Add(d.within)); err != nil {
		cancel()
		conn.Close()
		return nil, err
	}
	unwatch := context.AfterFunc(ctx, func() { conn.Close() })
	return &socket{conn, d.traffic, func() { unwatch(); cancel() }}, nil
}

// allow is asked before a socket connects, with the address that a name has.
func (d *dialer) allow(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if d.plaintext && (err != nil || !to.Addr().Unmap().IsLoopback()) {
		return faultf(CodeInsecure, "Plaintext is set and %s is another machine: it is for this machine's loopback addresses only", address)
	}
	return nil
}

// replace ends the latest socket, and has another one's end for hangUp.
func (d *dialer) replace(cancel context.CancelFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.latest != nil {
		d.latest()
	}
	d.latest = cancel
}

// rest waits between two connections, until hangUp is called.
func (d *dialer) rest(pause time.Duration) {
	ctx, cancel := context.WithTimeout(d.ctx, pause)
	defer cancel()
	d.replace(cancel)
	<-ctx.Done()
}

// hangUp ends the latest socket, the attempt to open it, or a rest.
func (d *dialer) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.latest != nil {
		d.latest()
	}
}

// A socket counts what goes through it.
type socket struct {
	net.Conn
	traffic *traffic
	release func()
}

func (s *socket) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.traffic.received.Add(int64(n))
	return n, err
}

func (s *socket) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	s.traffic.sent.Add(int64(n))
	return n, err
}

func (s *socket) Close() error {
	s.release()
	return s.Conn.Close()
}

// options returns what a connection is made with, whose news counts until ctx ends.
func (c *Client) options(ctx context.Context, d *dialer) []nats.Option {
	opts := append(client.ConnectOptions(c.settings.Device),
		nats.SetCustomDialer(d),
		nats.SkipHostLookup(), // the dialer looks up, and ends with ctx
		// A greeting comes before TLS: anybody on the way could add a server of a name
		// that he has a certificate for.
		nats.IgnoreDiscoveredServers(),
		nats.ConnectHandler(func(*nats.Conn) { c.online(ctx, true, nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { c.online(ctx, true, nil) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.online(ctx, false, err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.unreachable(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.unreachable(err) }),
		func(o *nats.Options) error {
			delay := o.CustomReconnectDelayCB
			o.CustomReconnectDelayCB = func(attempt int) time.Duration { c.tellLast(); return delay(attempt) }
			return nil
		},
	)
	if !c.settings.Plaintext {
		opts = append(opts, nats.Secure(&tls.Config{RootCAs: c.settings.roots, MinVersion: tls.VersionTLS12}))
	} else if c.settings.roots != nil && c.settings.overTLS() {
		opts = append(opts, func(o *nats.Options) error { // of what else would be in the clear, NATS lets nats:// be
			o.TLSConfig = &tls.Config{RootCAs: c.settings.roots, MinVersion: tls.VersionTLS12}
			return nil
		})
	}
	if c.settings.credentials != nil {
		opts = append(opts, c.settings.credentials)
	}
	return opts
}

// online is told when a connection comes and goes, until ctx ends; of an earlier one it
// may be told late.
func (c *Client) online(ctx context.Context, connected bool, err error) {
	defer contain()
	c.mu.Lock()
	over := ctx.Err() != nil
	if !over {
		c.seen.online = connected
	}
	c.mu.Unlock()
	if over {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	c.tellState(reason)
}

// tellLast tells what the last attempt came to, between attempts: of a server that was
// reached and then refused, in TLS or as a user, NATS tells no handler.
func (c *Client) tellLast() {
	defer contain()
	c.mu.Lock()
	nc := c.nc
	c.mu.Unlock()
	if nc != nil {
		c.unreachable(nc.LastError())
	}
}

// unreachable is told why there is no connection, or what the server denies.
func (c *Client) unreachable(err error) {
	defer contain()
	// What this package closed or gave up is no fault.
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, net.ErrClosed) {
		c.tellFault(connectCode(err), connectText(err))
	}
}
