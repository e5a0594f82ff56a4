package serve

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/enrol"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// A guard holds the flags that decide who may reach a broker that serve starts.
type guard struct {
	tls   bool
	auth  string // directory
	hosts []string
}

// guardFlags are the names of the flags of a guard.
var guardFlags = []string{"tls", "auth", "host"}

func (g *guard) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&g.tls, "tls", false, "with --auth: the broker that serve starts speaks TLS only")
	f.StringVar(&g.auth, "auth", "",
		"with --tls: directory of the broker's users, made at first use (zofl device)")
	f.StringArrayVar(&g.hosts, "host", nil,
		"with --auth: name or address of the broker, for devices; repeatable")
}

// check returns an error if anybody could connect to the broker from another machine, or if the
// flags contradict each other.
func (g *guard) check(listen string) error {
	switch {
	case g.tls != (g.auth != ""):
		return errors.New("--tls and --auth belong together: give both")
	case g.auth == "" && len(g.hosts) > 0:
		return errors.New("--host names the broker in its certificate: give --tls and --auth as well")
	case g.auth == "":
		return loopback("--listen", listen)
	}
	_, port, err := connect.SplitAddress("--listen", listen)
	if err == nil && port == 0 {
		err = fmt.Errorf("--listen %s: devices are told the port: give one from 1 to 65535", listen)
	}
	return err
}

// names returns the host names for the broker's certificate. Devices get the first name as the
// broker's address.
func (g *guard) names(listen string) (names []string, err error) {
	host, _, err := connect.SplitAddress("--listen", listen)
	if err != nil {
		return nil, err
	}
	names = append(names, g.hosts...)
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		return append(names, host, "localhost", "127.0.0.1", "::1"), nil
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	names = append(names, name, "localhost")
	addresses, err := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
			names = append(names, n.IP.String())
		}
	}
	return names, err
}

// enrolled makes the directory of --auth ready. enrolled returns the configuration of the broker,
// and the logins of serve there.
func (f *serveFlags) enrolled(jetStream string) (cfg broker.Config, users logins, err error) {
	names, err := f.guard.names(f.listen)
	if err != nil {
		return cfg, users, err
	}
	_, port, err := net.SplitHostPort(f.listen)
	if err != nil {
		return cfg, users, err
	}
	members := 0
	if f.plan != nil {
		members = int(f.plan.Members)
	}
	d, err := enrol.Make(f.guard.auth, enrol.About{Run: f.run, Dense: f.dense, Members: members,
		Secure: f.secure, Model: f.offer.file != "", Listen: f.listen,
		URL: "tls://" + net.JoinHostPort(names[0], port)})
	if err != nil {
		return cfg, users, fmt.Errorf("--auth: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	f.keyFile = cmp.Or(f.keyFile, filepath.Join(f.guard.auth, enrol.KeyFile))
	if err := f.speaker(); err != nil {
		return cfg, users, err
	}
	if err := d.SpokenFor(publicOf(f.private)); err != nil {
		return cfg, users, fmt.Errorf("--auth: %w", err)
	}
	if err := d.Certify(names); err != nil {
		return cfg, users, fmt.Errorf("--auth: %w", err)
	}
	if cfg.Conf, err = d.Conf(enrol.Server{
		JetStream: jetStream, Connections: broker.MaxConnections(),
		WebSocket: f.web.listen, Origins: f.web.origins,
	}); err != nil {
		return cfg, users, fmt.Errorf("--auth: %w", err)
	}
	// Recovered is true because zofl recover may have made the log in the directory.
	login, err := d.Coordinator(grant.Use{JetStream: jetStream != "", Recovered: true})
	if err != nil {
		return cfg, users, err
	}
	users.lead = []nats.Option{login, nats.RootCAs(d.Authority())}
	users.observe, users.account, err = d.Observer()
	return cfg, users, err
}

// logins are the options of the connections of serve to the broker that it guards.
type logins struct {
	lead    []nats.Option // as the coordinator
	observe []nats.Option // to hear who connects
	account string        // of those who connect
}

// broken is how long serve waits until it connects to its own broker again.
const broken = 100 * time.Millisecond

// guardedBroker limits the connections of devices, and connects as the coordinator.
func (f *serveFlags) guardedBroker(b *broker.Broker, users logins, logger *slog.Logger,
	opts []nats.Option) (*nats.Conn, error) {
	url := "tls://" + connect.Reachable(f.listen)
	observer, _, err := broker.Dial(url, "zofl serve: connections",
		append(users.observe, nats.MaxReconnects(-1), nats.ReconnectWait(broken),
			connect.ErrorHandler(url, logger))...)
	if err != nil {
		return nil, err
	}
	f.doorman = enrol.NewGuard(b, users.account, logger)
	if err := f.doorman.Watch(observer); err != nil {
		observer.Close()
		return nil, err
	}
	opts = append(opts, nats.ReconnectWait(broken),
		nats.ClosedHandler(func(*nats.Conn) { observer.Close() }))
	nc, _, err := broker.Dial(url, "zofl serve", append(opts, users.lead...)...)
	if err != nil {
		observer.Close()
		return nil, err
	}
	// The server loads the account at this login. It forgets a revocation that comes meanwhile.
	if err := b.Bar(users.account, nil); err != nil {
		nc.Close()
		return nil, err
	}
	return nc, nil
}
