package mobile

import (
	"context"
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

// dialWithin is how long a socket may take to open. The library sets this limit, because NATS gives
// a custom dialer no timeout.
const dialWithin = 20 * time.Second

// A dialer opens one socket at a time, and closes the socket when ctx ends. If plaintext is set,
// the dialer opens no socket to another machine, whatever a name resolves to and whatever address a
// server sends.
type dialer struct {
	ctx       context.Context
	plaintext bool
	traffic   *traffic
	within    time.Duration // limit for opening a socket, and for the handshakes after it

	mu     sync.Mutex // guards latest
	latest context.CancelFunc
}

var _ nats.CustomDialer = (*dialer)(nil)

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(d.ctx)
	d.replace(cancel) // NATS does not close the socket of a failed attempt
	// TCP's keep-alive probes would wake the phone's radio every 15 s; NATS's pings wake the radio
	// only every 4 minutes.
	to := net.Dialer{Timeout: d.within, Control: d.allow, KeepAlive: -1}
	conn, err := to.DialContext(ctx, network, address)
	if err != nil {
		cancel()
		return nil, err
	}
	// NATS sets its own deadline, but not for the TLS handshake of wss://.
	if err := conn.SetDeadline(time.Now().Add(d.within)); err != nil {
		cancel()
		conn.Close()
		return nil, err
	}
	unwatch := context.AfterFunc(ctx, func() { conn.Close() })
	return &socket{conn, d.traffic, func() { unwatch(); cancel() }}, nil
}

// allow refuses addresses of other machines if plaintext is set. The net package calls allow before
// a socket connects, with the address to which the name resolved.
func (d *dialer) allow(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if d.plaintext && (err != nil || !to.Addr().Unmap().IsLoopback()) {
		return faultf(CodeInsecure,
			"Plaintext is set and %s is another machine: give tls://, or a loopback address", address)
	}
	return nil
}

// replace ends the latest socket or rest, and stores cancel, a function that ends the next socket
// or rest.
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

// hangUp ends the latest socket, the attempt to open it, or the rest.
func (d *dialer) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.latest != nil {
		d.latest()
	}
}

// A socket counts the bytes that pass through it.
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

// options returns the options of a connection. After ctx ends, handlers no longer change the
// client's online state.
func (c *Client) options(ctx context.Context, d *dialer) []nats.Option {
	opts := append(client.ConnectOptions(c.settings.Device),
		nats.SetCustomDialer(d),
		nats.SkipHostLookup(), // the dialer resolves names, and stops with ctx
		// A server's greeting comes before TLS. So an attacker in the middle could add a server for whose
		// name the attacker has a certificate.
		nats.IgnoreDiscoveredServers(),
		nats.ConnectHandler(func(*nats.Conn) { c.online(ctx, true, nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { c.online(ctx, true, nil) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.online(ctx, false, err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.unreachable(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.unreachable(err) }),
		func(o *nats.Options) error {
			delay := o.CustomReconnectDelayCB
			o.CustomReconnectDelayCB = func(attempt int) time.Duration {
				c.tellLast()
				return delay(attempt)
			}
			return nil
		},
	)
	verifier := &verifier{&c.settings, ctx, c.trust}
	if !c.settings.Plaintext {
		opts = append(opts, nats.Secure(verifier.tls()))
	} else if c.settings.ownTLS() && c.settings.overTLS() {
		// Not nats.Secure, which would require TLS of nats:// addresses too.
		opts = append(opts, func(o *nats.Options) error {
			o.TLSConfig = verifier.tls()
			return nil
		})
	}
	if c.settings.credentials != nil {
		opts = append(opts, c.settings.credentials)
	}
	return opts
}

// online records that a connection opened or closed. online ignores calls after ctx ended, because
// NATS may report late on an earlier connection.
func (c *Client) online(ctx context.Context, connected bool, err error) {
	defer contain()
	c.mu.Lock()
	over := ctx.Err() != nil
	if !over {
		c.status.online = connected
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

// tellLast reports the last failed attempt before the next one: NATS calls no handler if it reached
// a server and then TLS failed or the server refused the user.
func (c *Client) tellLast() {
	defer contain()
	c.mu.Lock()
	nc := c.nc
	c.mu.Unlock()
	if nc != nil {
		c.unreachable(nc.LastError())
	}
}

// unreachable tells the listener why there is no connection, or which permission the server denies.
func (c *Client) unreachable(err error) {
	defer contain()
	// The errors of a connection that this package itself closed are no faults.
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, net.ErrClosed) {
		c.tellFault(connectCode(err), connectText(err))
	}
}
