package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// A proxy is a proxy that a variable of the environment names.
type proxy struct {
	*url.URL
	Variable string // the name of the variable
}

// defaultPorts are the schemes of proxies, with the port that each has without another.
var defaultPorts = map[string]string{
	"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080",
}

// parse reads the value of a variable. The error does not have the password.
func parse(v variable) (*proxy, error) {
	text := v.value
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, fmt.Errorf("%s names no proxy: write it as http://HOST:PORT or socks5://HOST:PORT, "+
			"and %% / ? # @ of a password as %%25 %%2F %%3F %%23 %%40", v.name)
	case defaultPorts[u.Scheme] == "":
		return nil, fmt.Errorf("%s is %s: write it as http://HOST:PORT, https://HOST:PORT or "+
			"socks5://HOST:PORT", v.name, u.Redacted())
	}
	return &proxy{u, v.name}, nil
}

// address is where the proxy listens.
func (p *proxy) address() string {
	port := p.Port()
	if port == "" {
		port = defaultPorts[p.Scheme]
	}
	return net.JoinHostPort(p.Hostname(), port)
}

// shown is the proxy without its user.
func (p *proxy) shown() string { return p.Scheme + "://" + p.address() }

// dial connects to an address through the proxy. ctx bounds the time that this takes. The errors
// are *[Error].
func (p *proxy) dial(ctx context.Context, by *net.Dialer, trust *tls.Config, address string,
) (net.Conn, error) {
	conn, err := by.DialContext(ctx, "tcp", p.address())
	if err != nil {
		return nil, p.fault(address, "is a proxy running there? else correct "+p.Variable, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	through, err := p.tunnel(conn, trust, address)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return through, nil
	}
	conn.Close()
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer in time (%w)", context.DeadlineExceeded)
	}
	if fault := (*Error)(nil); errors.As(err, &fault) {
		return nil, fault
	}
	return nil, p.fault(address, "correct "+p.Variable+", or ask who runs the proxy", err)
}

// tunnel asks the proxy to connect to an address.
func (p *proxy) tunnel(conn net.Conn, trust *tls.Config, address string) (net.Conn, error) {
	if strings.HasPrefix(p.Scheme, "socks") {
		return conn, p.socks(conn, address)
	}
	if p.Scheme == "https" {
		trust = trust.Clone()
		if trust == nil {
			trust = &tls.Config{}
		}
		trust.ServerName = p.Hostname()
		secured := tls.Client(conn, trust)
		if err := secured.Handshake(); err != nil {
			return nil, err
		}
		conn = secured
	}
	return p.connect(conn, address)
}

// An Error says why a proxy did not connect to an address. Its text names the proxy, but not its
// password, and what to do.
type Error struct {
	Proxy   string // its address
	Address string // of the server
	Remedy  string
	Err     error
}

func (p *proxy) fault(address, remedy string, err error) *Error {
	return &Error{p.shown(), address, remedy, err}
}

func (e *Error) Error() string {
	text := e.Err.Error()
	var op *net.OpError
	if errors.As(e.Err, &op) && op.Addr != nil { // without this side's port, which differs each time
		text = fmt.Sprintf("%s %v: %v", op.Op, op.Addr, op.Err)
	}
	return fmt.Sprintf("proxy %s: %s: %s; NO_PROXY=%s goes around the proxy", e.Proxy, text, e.Remedy,
		hostOf(e.Address))
}

func (e *Error) Unwrap() error { return e.Err }

// Timeout says whether the proxy did not answer in time.
func (e *Error) Timeout() bool { return timedOut(e.Err) }

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// user returns the user and password for the proxy; ok is false without a user.
func (p *proxy) user() (name, password string, ok bool) {
	if p.User == nil {
		return "", "", false
	}
	password, _ = p.User.Password()
	return p.User.Username(), password, true
}

// printable returns a text of the proxy on one line.
func printable(text string) string {
	const most = 200
	keep := func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}
	return strings.Map(keep, text[:min(len(text), most)])
}
