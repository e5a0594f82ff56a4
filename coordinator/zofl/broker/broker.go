package broker

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/internal/disk"
)

// DefaultMaxPayload is the default of [Config.MaxPayload] in bytes, a usual limit of public
// brokers. Most frames are small. Zofl cuts vectors and catch-up replies into pieces that fit.
const DefaultMaxPayload = 64 << 10

// readyWithin bounds the wait for a server to open its port, and for a connection. A server takes
// this long only if it hangs: a busy machine must not reach the bound.
const readyWithin = time.Minute

// Config says at which addresses a broker listens and what the broker accepts. The zero value is
// ready to use.
type Config struct {
	// Listen is the TCP address, "host:port". Empty means 127.0.0.1 and a free port. Port 0 means a
	// free port of the host. Anybody who can reach the address may connect, unless Nkeys names the
	// users.
	Listen string
	// InProcess leaves out the TCP port: connections are pipes inside this process. InProcess excludes
	// Listen and TLS.
	InProcess bool
	// MaxPayload is the largest message in bytes; 0 means DefaultMaxPayload.
	MaxPayload int
	// JetStream is the directory of JetStream; empty means no JetStream. The broker locks the
	// directory: the error of a second broker matches [disk.ErrLocked]. The broker syncs every message
	// to disk before it acknowledges the message (sync_interval: always), so a power cut loses no
	// acknowledged message.
	JetStream string
	// TLS has the server's certificate. With TLS set, the TCP port takes connections under TLS only.
	// nil means plaintext. The caller must tell clients to trust the certificate.
	TLS *tls.Config
	// Conf is a configuration file of nats-server, with the address, users, TLS and JetStream. The
	// broker then closes connections that have not logged in, before they take the places of those
	// that would. Conf excludes all other fields.
	Conf string
	// Nkeys are the public keys ("U...") of the users who may connect; nil means that anybody may
	// connect.
	Nkeys []string
	// WebSocket is the address, "host:port", at which browsers connect, under TLS if TLS is set; empty
	// means no WebSocket. Port 0 means a free port of the host.
	WebSocket string
	// Origins are the origins of the web pages that may connect to WebSocket, such as
	// "http://127.0.0.1:8080". Programs other than browsers send no origin, and may connect. WebSocket
	// needs at least one origin.
	Origins []string
}

func (c Config) options() (*server.Options, error) {
	if c.Conf != "" {
		return c.read()
	}
	opts := &server.Options{
		ServerName: "zofl", NoSigs: true, NoLog: true,
		DontListen: c.InProcess, Host: "127.0.0.1", Port: server.RANDOM_PORT,
		MaxPayload: DefaultMaxPayload,
		JetStream:  c.JetStream != "", StoreDir: c.JetStream, SyncAlways: true,
	}
	if err := c.guard(opts); err != nil {
		return nil, err
	}
	switch {
	case c.InProcess && c.Listen != "":
		return nil, errors.New("broker: InProcess and Listen exclude each other: leave one out")
	case c.MaxPayload < 0 || c.MaxPayload > server.MAX_PAYLOAD_MAX_SIZE:
		return nil, fmt.Errorf("broker: MaxPayload must be from 0 to %d bytes, got %d",
			server.MAX_PAYLOAD_MAX_SIZE, c.MaxPayload)
	case c.MaxPayload > 0:
		opts.MaxPayload = int32(c.MaxPayload)
	}
	if err := c.webSocket(opts); err != nil {
		return nil, err
	}
	if c.Listen == "" {
		return opts, nil
	}
	var err error
	opts.Host, opts.Port, err = splitAddress("Listen", c.Listen)
	return opts, err
}

// read returns the options in the configuration file.
func (c Config) read() (*server.Options, error) {
	file := c.Conf
	if c.Conf = ""; !reflect.ValueOf(c).IsZero() {
		return nil, errors.New("broker: Conf excludes the other fields: leave them zero")
	}
	opts, err := server.ProcessConfigFile(file)
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	opts.NoSigs, opts.NoLog = true, true
	return opts, nil
}

// guard sets in opts which users may connect, and whether they need TLS.
func (c Config) guard(opts *server.Options) error {
	if c.InProcess && c.TLS != nil {
		return errors.New("broker: InProcess and TLS exclude each other: leave one out")
	}
	if c.TLS != nil {
		opts.TLS, opts.TLSConfig, opts.TLSTimeout = true, c.TLS, readyWithin.Seconds()
	}
	for _, key := range c.Nkeys {
		if !nkeys.IsValidPublicUserKey(key) {
			return fmt.Errorf("broker: Nkeys has %q: give a user's public key, which begins with U", key)
		}
		opts.Nkeys = append(opts.Nkeys, &server.NkeyUser{Nkey: key})
	}
	return nil
}

// A Broker is a running NATS server. All methods may be called from any
// goroutine.
type Broker struct {
	server    *server.Server
	inProcess bool
	webSocket bool
	most      int       // clients at once
	lock      io.Closer // of JetStream's directory
	unwatch   func()    // ends the watch over connections that have not logged in
}

var _ nats.InProcessConnProvider = (*Broker)(nil)

// Run starts a server and returns when it accepts connections. The caller must call
// [Broker.Shutdown].
func Run(cfg Config) (*Broker, error) {
	opts, err := cfg.options()
	if err != nil {
		return nil, err
	}
	lock, err := lockStore(opts)
	if err != nil {
		return nil, fmt.Errorf("broker: JetStream: %w", err)
	}
	b := &Broker{inProcess: cfg.InProcess, webSocket: opts.Websocket.Port != 0,
		most: cmp.Or(opts.MaxConn, mostClients), lock: lock}
	if b.server, err = start(opts); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	b.unwatch = func() {}
	if cfg.Conf != "" {
		b.unwatch = sync.OnceFunc(b.limitStrangers())
	}
	return b, nil
}

// lockStore locks the directory of JetStream, if the server has one.
func lockStore(opts *server.Options) (io.Closer, error) {
	if !opts.JetStream || opts.StoreDir == "" {
		return io.NopCloser(nil), nil
	}
	if err := os.MkdirAll(opts.StoreDir, 0o750); err != nil {
		return nil, err
	}
	return disk.OS.Lock(filepath.Join(opts.StoreDir, "lock"))
}

// start starts a server and returns when the server accepts connections.
func start(opts *server.Options) (*server.Server, error) {
	if !opts.DontListen {
		// If another process has the port, the server reports that only in its log.
		if err := tryListen(opts); err != nil {
			return nil, err
		}
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(readyWithin) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("broker: not ready after %v: is %s:%d free?",
			readyWithin, opts.Host, opts.Port)
	}
	return s, nil
}

// tryListen listens at all addresses of opts at the same time, and returns the error of that.
func tryListen(opts *server.Options) error {
	l, err := net.Listen("tcp", net.JoinHostPort(opts.Host, strconv.Itoa(max(opts.Port, 0))))
	if err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	if web := opts.Websocket; web.Port != 0 {
		w, err := net.Listen("tcp", net.JoinHostPort(web.Host, strconv.Itoa(max(web.Port, 0))))
		if err != nil {
			return errors.Join(fmt.Errorf("broker: %w: %w", ErrWebSocket, err), l.Close())
		}
		defer w.Close()
	}
	return l.Close()
}

// URL returns the address to connect to, such as nats://127.0.0.1:43210, or tls:// with TLS. The
// address is empty if the broker is in-process only.
func (b *Broker) URL() string {
	if b.inProcess {
		return ""
	}
	return b.server.ClientURL()
}

// InProcessConn returns one end of a new pipe to the server. nats.Connect("",
// nats.InProcessServer(b)) makes a connection without TCP.
func (b *Broker) InProcessConn() (net.Conn, error) { return b.server.InProcessConn() }

// Clients returns how many connections the server has.
func (b *Broker) Clients() int { return b.server.NumClients() }

// Subscriptions returns how many subscriptions the server has.
func (b *Broker) Subscriptions() int { return int(b.server.NumSubscriptions()) }

// HangUp closes the connection with an id of the server's.
func (b *Broker) HangUp(id uint64) error { return b.server.DisconnectClientByID(id) }

// forever is a time of revocation that makes all JWTs of a user invalid.
var forever = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// Bar lets users of an account in no more, until the next call. The account has a JWT, which stays
// as it is: when the server gets another one of the account, these users may come in again.
func (b *Broker) Bar(account string, users []string) error {
	for used := ""; ; {
		text, err := b.server.AccountResolver().Fetch(account)
		if err != nil {
			return fmt.Errorf("broker: %w", err)
		}
		if text == used {
			return nil
		}
		used = text // a revocation that is stored meanwhile must not get lost, so it looks again
		claims, err := jwt.DecodeAccountClaims(text)
		if err != nil {
			return fmt.Errorf("broker: %w", err)
		}
		for _, u := range users {
			claims.RevokeAt(u, forever)
		}
		a, err := b.server.LookupAccount(account)
		if err != nil {
			return fmt.Errorf("broker: %w", err)
		}
		b.server.UpdateAccountClaims(a, claims)
	}
}

// Connect connects to the broker, over TCP unless the broker is in-process only. The server's
// monitoring shows the name. The caller closes the connection. The Traffic counts the bytes at the
// connection's sockets, after reconnects too.
func (b *Broker) Connect(name string, more ...nats.Option) (*nats.Conn, *Traffic, error) {
	if !b.inProcess {
		return Dial(b.URL(), name, more...)
	}
	t := &Traffic{}
	more = append([]nats.Option{nats.InProcessServer(pipes{b, t})}, more...)
	return connect("", name, t, more)
}

// Shutdown stops the server, closes its connections, and returns when all its goroutines have
// ended. A second call of Shutdown does nothing.
func (b *Broker) Shutdown() {
	b.unwatch()
	b.server.Shutdown()
	b.server.WaitForShutdown()
	_ = b.lock.Close() // a closed lock is released
}
