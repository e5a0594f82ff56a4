package serve

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

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
	f.BoolVar(&g.tls, "tls", false,
		"with --auth: the broker that serve starts takes connections under TLS only")
	f.StringVar(&g.auth, "auth", "", "with --tls: directory of the users of a broker that serve "+
		"starts, made at first use; zofl device adds and revokes users")
	f.StringArrayVar(&g.hosts, "host", nil, "with --auth: name or address by which devices reach the "+
		"broker, for its certificate; repeatable, the first is told to devices; default: that of "+
		"--listen, or this machine's")
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
// and the coordinator's credentials there.
func (f *serveFlags) enrolled(jetStream string) (cfg broker.Config, user []nats.Option, err error) {
	names, err := f.guard.names(f.listen)
	if err != nil {
		return cfg, nil, err
	}
	_, port, err := net.SplitHostPort(f.listen)
	if err != nil {
		return cfg, nil, err
	}
	d, err := enrol.Make(f.guard.auth, enrol.About{Run: f.run, Dense: f.dense,
		Secure: f.secure, Model: f.offer.file != "", Listen: f.listen,
		URL: "tls://" + net.JoinHostPort(names[0], port)})
	if err != nil {
		return cfg, nil, fmt.Errorf("--auth: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	f.keyFile = cmp.Or(f.keyFile, filepath.Join(f.guard.auth, enrol.KeyFile))
	if err := f.speaker(); err != nil {
		return cfg, nil, err
	}
	if err := d.SpokenFor(publicOf(f.private)); err != nil {
		return cfg, nil, fmt.Errorf("--auth: %w", err)
	}
	if err := d.Certify(names); err != nil {
		return cfg, nil, fmt.Errorf("--auth: %w", err)
	}
	if cfg.Conf, err = d.Conf(enrol.Server{
		JetStream: jetStream, MaxPayload: broker.DefaultMaxPayload,
		WebSocket: f.web.listen, Origins: f.web.origins,
	}); err != nil {
		return cfg, nil, fmt.Errorf("--auth: %w", err)
	}
	// Recovered is true because zofl recover may have made the log in the directory.
	login, err := d.Coordinator(grant.Use{JetStream: jetStream != "", Recovered: true})
	return cfg, []nats.Option{login, nats.RootCAs(d.Authority())}, err
}
