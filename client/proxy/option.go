package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// FromEnvironment returns an option of [nats.Connect] that connects through the proxies that the
// environment names at that time. For servers without a proxy, and without the variables, the
// option changes nothing. Give FromEnvironment after other options that set a dialer or a timeout.
// The option fails if a variable names no proxy.
func FromEnvironment() nats.Option {
	return func(o *nats.Options) error {
		d, err := NewDialer(o.Servers, o.Timeout)
		if err != nil || !d.Needed() {
			return err
		}
		return d.Options(o)
	}
}

// A Dialer connects to the servers of a NATS connection: to each through its proxy, or directly. It
// implements [nats.CustomDialer].
type Dialer struct {
	net.Dialer
	// TLS is for proxies with https://. Nil: the system's authorities sign their certificates.
	TLS *tls.Config

	environment *environment
	schemes     map[string]string // of the servers, by their address
	scheme      string            // of servers that the first server names
	needed      bool
}

var _ nats.CustomDialer = (*Dialer)(nil)

// NewDialer returns a dialer for servers, which are URLs, with the environment of now. timeout
// bounds an attempt to connect to a server, with what a proxy needs for its own connection.
func NewDialer(servers []string, timeout time.Duration) (*Dialer, error) {
	d := &Dialer{
		Dialer:      net.Dialer{Timeout: timeout},
		environment: readEnvironment(), schemes: map[string]string{}, scheme: "nats",
	}
	for i, u := range parsed(servers) {
		p, err := d.environment.For(u)
		if err != nil {
			return nil, err
		}
		d.schemes[net.JoinHostPort(u.Hostname(), portOf(u))] = u.Scheme
		d.needed = d.needed || p != nil
		if i == 0 {
			d.scheme = u.Scheme
		}
	}
	return d, nil
}

// Needed says whether there is a proxy for one of the servers.
func (d *Dialer) Needed() bool { return d.needed }

// Options makes a connection use the dialer. The proxies resolve the names of the servers.
func (d *Dialer) Options(o *nats.Options) error {
	o.CustomDialer, o.SkipHostLookup = d, true
	return nil
}

// Dial implements [nats.CustomDialer]. The connection has a deadline, because NATS sets none for
// the handshake of wss://. NATS removes the deadline once it is connected.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	ctx := context.Background()
	if d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.Timeout)
		defer cancel()
	}
	conn, err := d.dial(ctx, network, address)
	if err == nil && d.Timeout > 0 {
		err = conn.SetDeadline(time.Now().Add(d.Timeout))
	}
	return conn, err
}

func (d *Dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !d.needed { // address may be what NATS made of a server's name
		return d.DialContext(ctx, network, address)
	}
	server := &url.URL{Scheme: cmp.Or(d.schemes[address], d.scheme), Host: address}
	p, err := d.environment.For(server)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return d.DialContext(ctx, network, address)
	}
	return p.dial(ctx, &d.Dialer, d.TLS, address)
}

// parsed returns the servers, as NATS reads them. NATS itself refuses what is no URL.
func parsed(servers []string) (found []*url.URL) {
	for _, server := range servers {
		if server = strings.TrimSpace(server); !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		if u, err := url.Parse(server); err == nil {
			found = append(found, u)
		}
	}
	return found
}
