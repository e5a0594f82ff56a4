package connect

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client/proxy"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// A reach logs why a connection does not reach the broker. It logs each reason once, and logs when
// the connection works again.
//
// A reach is also the dialer of its connection, because the NATS library does not report why a
// server refused a TCP connection.
type reach struct {
	*proxy.Dialer
	broker   string
	tlsFirst bool         // this side begins, with TLS
	log      *slog.Logger // nil: nobody listens
	notes    *notes       // of errors over a working connection

	mu       sync.Mutex
	dialed   error           // of the last attempt to connect to a server
	address  string          // of that server
	accepted bool            // a server accepted the last connection
	told     map[string]bool // the reasons that were told and not cured yet
}

// newReach returns the reach of a connection. Its errors are usage errors: a variable of the
// environment that names no proxy.
func newReach(c *Connection, within time.Duration, log *slog.Logger) (*reach, error) {
	dialer, err := proxy.NewDialer(strings.Split(c.URL, ","), within)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return &reach{Dialer: dialer, broker: c.Redacted(),
		tlsFirst: c.tlsFirst, log: log, notes: newNotes(c.Redacted(), log),
		told: map[string]bool{}}, nil
}

// options returns the options that make a connection report to r.
func (r *reach) options() []nats.Option {
	opts := []nats.Option{nats.SetCustomDialer(r), nats.Timeout(r.Timeout)}
	if r.Needed() {
		opts = append(opts, nats.SkipHostLookup()) // the proxy resolves names
	}
	if r.log == nil {
		// Otherwise the library would print the broker's errors.
		return append(opts, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	}
	return append(opts,
		nats.ConnectHandler(r.connected),
		nats.ReconnectHandler(r.connected),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { r.failed(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: closed by this program
				r.tell("disconnected: " + ended(err))
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.note(err) }),
	)
}

// Dial implements [nats.CustomDialer].
func (r *reach) Dial(network, address string) (net.Conn, error) {
	conn, err := r.Dialer.Dial(network, address)
	r.mu.Lock()
	r.dialed, r.address, r.accepted = err, address, err == nil
	r.mu.Unlock()
	return conn, err
}

// watch logs a warning if the connection is not established within three seconds, whatever the
// reason.
func (r *reach) watch(nc *nats.Conn) {
	time.AfterFunc(3*time.Second, func() {
		if s := nc.Status(); s == nats.CONNECTED || s == nats.CLOSED {
			return
		}
		r.mu.Lock()
		silent := len(r.told) == 0
		r.mu.Unlock()
		if silent {
			r.failed(nats.ErrTimeout)
		}
	})
}

func (r *reach) connected(nc *nats.Conn) {
	r.mu.Lock()
	cured := len(r.told) > 0
	clear(r.told)
	r.mu.Unlock()
	if cured {
		r.log.Info("connected to the broker", "broker", nc.ConnectedUrlRedacted())
	}
}

// failed tells why an attempt to connect failed.
func (r *reach) failed(err error) { r.tell(r.remedied(r.reason(err))) }

// tell logs a reason as a warning, unless it was logged since the last connection. Several servers
// may give several reasons.
func (r *reach) tell(reason string) {
	if r.first(reason) {
		r.log.Warn("no connection to the broker, trying again", "broker", r.broker, "reason", reason)
	}
}

// note logs an error that the broker sends over a working connection. If the broker ends the
// connection, because the user's credentials expired or were revoked, note tells why: the NATS
// library only says later that the connection is gone.
func (r *reach) note(err error) {
	if refusal(err) {
		r.tell(remedied(err))
		return
	}
	r.notes.add(err)
}

// mostTold bounds how many logged texts a reach remembers.
const mostTold = 100

// first says whether a reason was not told yet, and notes it.
func (r *reach) first(reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told[reason] || len(r.told) >= mostTold {
		return false
	}
	r.told[reason] = true
	return true
}

// reason returns why connecting failed. If the servers refuse TCP connections, the error of the
// NATS library says only that there are no servers.
func (r *reach) reason(err error) error {
	if !errors.Is(err, nats.ErrNoServers) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dialed != nil {
		return r.dialed
	}
	return err
}

// remedied returns a reason and its remedy. A server that takes a connection and does not greet may
// wait for TLS, which otherwise begins after the greeting.
func (r *reach) remedied(err error) string {
	r.mu.Lock()
	accepted, address := r.accepted, r.address
	r.mu.Unlock()
	if accepted && hungUp(err) {
		if refusal := r.refusalAt(address); refusal != nil {
			return remedied(refusal)
		}
	}
	if mute := isTimeout(err) || errors.Is(err, io.EOF); accepted && mute && !r.tlsFirst {
		way := "firewalls on the way"
		if r.Needed() {
			way = "the proxy that the environment names"
		}
		return textOf(err) + ": the server took the connection and did not greet: if it begins " +
			"with TLS (handshake_first), give --tls-first; else check --url, and " + way
	}
	return remedied(err)
}

// ended returns why the broker ended a connection.
func ended(err error) string {
	if refusal(err) {
		return remedied(err)
	}
	return textOf(err)
}

// hungUp says whether a server closed the connection before it greeted this side.
func hungUp(err error) bool {
	var op *net.OpError // whose cause has another number on Windows
	broke := errors.As(err, &op) && (op.Op == "read" || op.Op == "write") && !op.Timeout()
	return broke || errors.Is(err, io.EOF) || errors.As(err, new(tls.RecordHeaderError))
}

// refusalAt connects to a server once more, and returns the error that the server reports when it
// closes the connection. The NATS library does not read that error while it still writes.
func (r *reach) refusalAt(address string) error {
	conn, err := r.Dialer.Dial("tcp", address)
	if err != nil {
		return nil
	}
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(time.Second)) != nil {
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(conn, 64<<10))
	_, after, found := strings.Cut(string(said), "-ERR '")
	text, _, ended := strings.Cut(after, "'")
	if !found || !ended {
		return nil
	}
	return errors.New(strings.ToLower(text))
}

// textOf returns the text of an error without this side's port, which differs at each attempt.
func textOf(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Addr != nil {
		return fmt.Sprintf("%s %v: %v", op.Op, op.Addr, op.Err)
	}
	return err.Error()
}

// remedied returns the text of an error with a remedy.
func remedied(err error) string {
	var unknown *net.DNSError
	var invalid x509.CertificateInvalidError
	switch text := textOf(err); {
	case errors.As(err, new(*proxy.Error)):
		return err.Error()
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return expired(invalid.Cert, time.Now())
	case errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAccountAuthExpired):
		return strings.ToLower(text) + ": write new credentials to the same file: it is read again at " +
			"each attempt"
	case refusal(err):
		// The server's text begins with capitals at the first attempt only.
		return strings.ToLower(text) + ": the broker does not let this user in: check --creds, --nkey, " +
			"or user and password in --url"
	case full(err):
		return text + ": the broker has as many connections as its max_connections, or that of this " +
			"account or user, allows: raise it, or end other programs"
	case errors.As(err, &unknown):
		return fmt.Sprintf("host %s is not found (%s): check --url, and the network", unknown.Name,
			unknown.Err)
	case isTimeout(err):
		return text + ": no NATS server answers: check --url, and firewalls on the way"
	case strings.Contains(text, "connection refused"):
		return text + ": is a broker running there?"
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted),
		strings.Contains(text, "tls:"), strings.Contains(text, "x509:"):
		return text + ": check --tls-ca and --tls-cert, and whether the address needs tls://"
	default:
		return text
	}
}

// full says whether a broker has as many connections as it, or the account, may have.
func full(err error) bool { return strings.Contains(textOf(err), "connections exceeded") }

// expired says from or until which day a broker's certificate is valid. The text has no time of
// day, because a text that differs at each attempt would count as a new reason.
func expired(c *x509.Certificate, now time.Time) string {
	if now.Before(c.NotBefore) {
		return fmt.Sprintf("the broker's certificate is not valid before %s: set this machine's clock",
			c.NotBefore.UTC().Format(time.DateTime))
	}
	return fmt.Sprintf("the broker's certificate expired on %s (UTC): renew it, as zofl serve --auth "+
		"does when it starts, or set this machine's clock", c.NotAfter.UTC().Format(time.DateTime))
}

// fault returns an error of connecting with its exit code. If the broker refuses the user's
// credentials, it is a usage error.
func (r *reach) fault(err error) error {
	err = r.reason(err)
	said := fmt.Errorf("broker %s: %w", r.broker, &reasonError{r.remedied(err), err})
	if refusal(err) {
		return cli.Usage(said)
	}
	return cli.Absent(said)
}

// A reasonError has another text than the error that it wraps.
type reasonError struct {
	text string
	error
}

func (e *reasonError) Error() string { return e.text }
func (e *reasonError) Unwrap() error { return e.error }

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// refusal says whether a broker answered but refused this user's credentials.
func refusal(err error) bool {
	for _, e := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked,
		nats.ErrAccountAuthExpired, nats.ErrNkeysNotSupported} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
