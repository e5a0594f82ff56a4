// Package connect connects a command to the broker that its flags name, and tells a person why
// there is no connection.
package connect

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/wire/signed"
)

// Connection holds the flags that say how to reach a broker.
type Connection struct {
	URL, Creds, NKey, ca, cert, key string
	plaintext, tlsFirst             bool
	cmd                             *cobra.Command // that has the flags, nil without one

	// Only a --context sets the fields below.
	context               *[6]string // the settings of the context
	user, password, token string
}

// FlagNames are the flags that have no effect without --url. --context can replace all.
var FlagNames = []string{"creds", "nkey", "tls-ca", "tls-cert", "tls-key", "tls-first",
	"plaintext"}

// Flags adds the flags of a connection.
func (c *Connection) Flags(cmd *cobra.Command) {
	c.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&c.URL, "url", "",
		"address of the broker, such as nats://127.0.0.1:4222")
	f.StringVar(&c.Creds, "creds", "", "file with the user's JWT and nkey seed, as zofl device "+
		"add writes it")
	f.StringVar(&c.NKey, "nkey", "", "file with the user's nkey seed")
	f.StringVar(&c.ca, "tls-ca", "",
		"file with the certificates of the authorities that signed the broker's (PEM); default: that "+
			"in --creds, or the system's")
	f.StringVar(&c.cert, "tls-cert", "", "file with this program's certificate (PEM)")
	f.StringVar(&c.key, "tls-key", "", "file with the key of --tls-cert (PEM)")
	f.BoolVar(&c.tlsFirst, "tls-first", false,
		"begin with TLS, for a broker whose configuration says handshake_first")
	f.BoolVar(&c.plaintext, "plaintext", false,
		"speak without TLS to another machine: whoever is on the way can read and change everything")
	c.contextFlags(cmd)
	Help.Mark(f, append(slices.Clone(FlagNames), "url", "context")...)
}

// Named says whether a flag names a user or a certificate.
func (c *Connection) Named() bool {
	return c.plaintext || c.Creds != "" || c.NKey != "" || c.ca != "" || c.cert != "" || c.key != ""
}

// options returns the NATS options for the flags. Its errors are usage errors. inbox is the prefix
// of the subjects for answers. If inbox is empty, the NATS library chooses the prefix.
func (c *Connection) options(name, inbox string) ([]nats.Option, error) {
	if err := c.check(); err != nil {
		return nil, cli.Usage(err)
	}
	opts := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		// A server's greeting names other servers, and comes before TLS. So connect only to servers in
		// --url.
		nats.IgnoreDiscoveredServers(),
	}
	if inbox != "" {
		opts = append(opts, nats.CustomInboxPrefix(inbox))
	}
	login, err := c.login()
	if err != nil {
		return nil, cli.Usage(err)
	}
	opts = append(opts, login...)
	if c.user != "" {
		opts = append(opts, nats.UserInfo(c.user, c.password))
	}
	if c.token != "" {
		opts = append(opts, nats.Token(c.token))
	}
	if c.tlsFirst {
		opts = append(opts, nats.TLSHandshakeFirst())
	}
	return opts, nil
}

// CoordinatorFlag adds the flag that names the coordinator's keys.
func CoordinatorFlag(cmd *cobra.Command, keys *string) {
	cmd.Flags().StringVar(keys, "coordinator", "",
		"public key of the coordinator, as zofl status prints it")
}

// Coordinator returns the coordinator's keys: those in the flag or, without the flag, those in the
// creds file.
func (c *Connection) Coordinator(flag string) (signed.Keys, error) {
	if flag != "" || c.Creds == "" {
		keys, err := signed.ParseKeys(flag)
		if err != nil {
			return nil, cli.Usage(fmt.Errorf("--coordinator: %w", err))
		}
		return keys, nil
	}
	content, err := c.ReadPrivate(c.Creds)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--creds %s: %w", c.Creds, cli.CauseOf(err)))
	}
	keys, err := signed.KeysIn(string(content))
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--creds %s: %w", c.Creds, err))
	}
	return keys, nil
}

// schemes are the URL schemes that NATS connects to.
var schemes = []string{"nats", "tls", "ws", "wss"}

// check returns an error if a flag cannot be used. It checks files here because the NATS library
// reads some of them only when it tries to connect.
func (c *Connection) check() error {
	switch {
	case c.URL == "":
		return errors.New("--url is missing: give the address of the broker, or a --context")
	case c.context != nil && *c.context != c.settings():
		return errContextToo
	case c.Creds != "" && c.NKey != "":
		return errors.New("--creds and --nkey name two users: give only one")
	case (c.cert == "") != (c.key == ""):
		return errors.New("--tls-cert and --tls-key belong together: give both")
	}
	var addresses []*url.URL
	for _, address := range strings.Split(c.URL, ",") {
		u, err := checkAddress(strings.TrimSpace(address))
		if err != nil {
			return err
		}
		addresses = append(addresses, u)
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	for _, u := range addresses {
		if c.clear(u) {
			return fmt.Errorf("--url %s: another machine, and no TLS: whoever is on the way could play "+
				"the coordinator: write tls://%s, or give --plaintext", u.Redacted(), u.Host)
		}
	}
	return nil
}

// clear says whether a connection to an address would have no TLS although the user did not ask for
// plaintext. With the flags that name certificates, nats:// has TLS too.
func (c *Connection) clear(u *url.URL) bool {
	if c.plaintext || IsLoopback(u.Hostname()) {
		return false
	}
	return u.Scheme == "ws" || u.Scheme == "nats" && c.cert == "" && c.authority() == ""
}

// checkAddress returns the parts of an address, or an error unless NATS can connect to it.
func checkAddress(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "nats://" + address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil && !strings.Contains(address, "@"):
		return nil, fmt.Errorf("--url %s: no address: write it as tls://host:4222", address)
	case err != nil: // the error quotes the address, which may have a password
		return nil, errors.New("--url is no address: write it as tls://host:4222, " +
			"and % / ? # of a password as %25 %2F %3F %23")
	case !slices.Contains(schemes, u.Scheme):
		return nil, fmt.Errorf("--url %s: a broker's address begins with nats://, tls://, ws:// or "+
			"wss://", u.Redacted())
	case u.Port() != "" && !isPort(u.Port()):
		return nil, fmt.Errorf("--url %s: give a port from 1 to 65535", u.Redacted())
	case u.Hostname() == "":
		return nil, fmt.Errorf("--url %s: the host is missing: write it as tls://host:4222",
			u.Redacted())
	}
	return u, nil
}

// isPort says whether a broker can listen at a port.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

// Redacted returns the addresses of the broker without passwords.
func (c *Connection) Redacted() string {
	list := strings.Split(c.URL, ",")
	for i, address := range list {
		if u, err := url.Parse(strings.TrimSpace(address)); err == nil && u.User != nil {
			list[i] = u.Redacted()
		} else if at := strings.LastIndex(address, "@"); at >= 0 {
			list[i] = address[at+1:]
		}
	}
	return strings.Join(list, ",")
}

// DialWithin bounds an attempt to connect to one server.
const DialWithin = 2 * time.Second

// Dial connects, or returns an error if none of at most three servers answers within five seconds.
// Dial tries once, but again for some seconds while the broker is full or hangs up: it closes
// connections that do not log in soon.
func (c *Connection) Dial(name, inbox string) (*nats.Conn, error) {
	opts, err := c.options(name, inbox)
	if err != nil {
		return nil, err
	}
	servers := time.Duration(1 + strings.Count(c.URL, ","))
	r, err := newReach(c, max(4*time.Second/servers, 1500*time.Millisecond), nil)
	if err != nil {
		return nil, err
	}
	opts = append(opts, r.options()...)
	for began := time.Now(); ; time.Sleep(FullPause) {
		nc, err := nats.Connect(c.URL, opts...)
		if err == nil {
			return nc, nil
		}
		busy := hungUp(err)
		if err = r.fault(err); !busy && !full(err) || time.Since(began) > FullWithin {
			return nil, err
		}
	}
}

// FullWithin is how long a command tries to connect to a broker that has as many connections as it
// takes. FullPause is the time between two attempts.
const (
	FullWithin = 3 * time.Second
	FullPause  = 20 * time.Millisecond
)

// Await connects now, or as soon as the broker answers. Commands that run for long use Await, so
// that they survive an absence of the broker. Await logs why there is no connection.
func (c *Connection) Await(name, inbox string, log *slog.Logger) (*nats.Conn, error) {
	opts, err := c.options(name, inbox)
	if err != nil {
		return nil, err
	}
	opts = append(opts, nats.RetryOnFailedConnect(true),
		nats.IgnoreAuthErrorAbort()) // the user may be added while the command runs
	r, err := newReach(c, DialWithin, log)
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(c.URL, append(opts, r.options()...)...)
	if err != nil {
		return nil, r.fault(err)
	}
	r.watch(nc)
	return nc, nil
}

// SplitAddress returns host and port of a flag.
func SplitAddress(flag, address string) (host string, port uint64, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("%s %s: write it as HOST:PORT, such as 127.0.0.1:4222, and an IPv6 "+
			"address in brackets", flag, address)
	}
	if port, err = strconv.ParseUint(text, 10, 16); err != nil {
		return "", 0, fmt.Errorf("%s %s: give a port from 1 to 65535, or 0 for a free one",
			flag, address)
	}
	return host, port, nil
}

// IsLoopback says whether a host is localhost or a loopback address. It resolves no names.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hasAuthority says whether a creds file names the authority of its broker.
func hasAuthority(creds []byte) bool {
	return strings.Contains(string(creds), "-----BEGIN CERTIFICATE-----")
}

// InboxOf returns the prefix of the subjects for answers to a role without a user name.
func InboxOf(role grant.Role, run string) string {
	return (&grant.Use{Run: run}).Inbox(role)
}

// Reachable returns an address at which a program on this machine reaches a broker that listens at
// --listen.
func Reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	switch ip := net.ParseIP(host); {
	case host == "", ip != nil && ip.IsUnspecified():
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// AskWithin bounds the wait for a coordinator's answer.
const AskWithin = 10 * time.Second
