package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// broker connects to the broker at --url, or starts one in this process.
func (f *serveFlags) broker(logger *slog.Logger) (nc *nats.Conn, hangUp func(), err error) {
	if f.url != "" {
		nc, err := f.await("zofl serve", inboxOf(grant.Coordinator, f.run), logger)
		if err != nil {
			return nil, nil, err
		}
		return nc, nc.Close, nil
	}
	cfg := broker.Config{Listen: f.listen}
	if f.jetstream {
		cfg.JetStream = filepath.Join(f.store, "jetstream")
	}
	connect := func(b *broker.Broker, opts ...nats.Option) (*nats.Conn, *broker.Traffic, error) {
		return b.Connect("zofl serve", opts...)
	}
	if f.guard.auth != "" {
		var user []nats.Option
		if cfg, user, err = f.enrolled(cfg.JetStream); err != nil {
			return nil, nil, err
		}
		connect = func(_ *broker.Broker, opts ...nats.Option) (*nats.Conn, *broker.Traffic, error) {
			return broker.Dial("tls://"+reachable(f.listen), "zofl serve", append(opts, user...)...)
		}
	}
	b, err := broker.Run(cfg)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("--listen %s: %w: give another address, or --url of the broker there",
			f.listen, err)
	}
	if err != nil {
		return nil, nil, err
	}
	nc, _, err = connect(b, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.IgnoreDiscoveredServers(), nats.CustomInboxPrefix(inboxOf(grant.Coordinator, f.run)))
	if err != nil {
		b.Shutdown()
		return nil, nil, err
	}
	return nc, func() { nc.Close(); b.Shutdown() }, nil
}

// splitListen returns host and port of --listen.
func splitListen(address string) (host string, port uint64, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("--listen %s: %w", address, err)
	}
	if port, err = strconv.ParseUint(text, 10, 16); err != nil {
		return "", 0, fmt.Errorf("--listen %s: give a port from 1 to 65535, or 0 for a free one",
			address)
	}
	return host, port, nil
}

// loopback returns an error if other machines can reach an address: the broker that serve starts
// lets everybody in, unless it has users.
func loopback(address string) error {
	host, _, err := splitListen(address)
	if err == nil && !isLoopback(host) {
		return fmt.Errorf("--listen %s: the broker that serve starts has no authentication, so it "+
			"listens on loopback only: give --tls and --auth DIR, or --url of a nats-server with TLS "+
			"and permissions", address)
	}
	return err
}

// isLoopback says whether a host is this machine only, whatever names resolve to.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
