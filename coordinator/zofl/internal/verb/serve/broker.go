package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"syscall"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/internal/disk"
)

// broker connects to the broker at --url, or starts one in this process.
func (f *serveFlags) broker(logger *slog.Logger) (nc *nats.Conn, hangUp func(), err error) {
	if f.URL != "" {
		nc, err := f.Await("zofl serve", connect.InboxOf(grant.Coordinator, f.run), logger)
		if err != nil {
			return nil, nil, err
		}
		return nc, nc.Close, nil
	}
	cfg := broker.Config{Listen: f.listen, WebSocket: f.web.listen, Origins: f.web.origins}
	if f.jetstream {
		cfg.JetStream = filepath.Join(f.store, "jetstream")
	}
	join := func(b *broker.Broker, opts ...nats.Option) (*nats.Conn, error) {
		nc, _, err := b.Connect("zofl serve", opts...)
		return nc, err
	}
	if f.guard.auth != "" {
		var users logins
		if cfg, users, err = f.enrolled(cfg.JetStream); err != nil {
			return nil, nil, err
		}
		join = func(b *broker.Broker, opts ...nats.Option) (*nats.Conn, error) {
			return f.guardedBroker(b, users, logger, opts)
		}
	}
	b, err := broker.Run(cfg)
	switch {
	case errors.Is(err, disk.ErrLocked):
		err = f.locked()
	case errors.Is(err, broker.ErrWebSocket):
		err = fmt.Errorf("--websocket %s: %w: give another address", f.web.listen, err)
	case errors.Is(err, syscall.EADDRINUSE):
		err = fmt.Errorf("--listen %s: %w: give another address, or --url of the broker there",
			f.listen, err)
	}
	if err != nil {
		return nil, nil, err
	}
	if url := b.WebSocketURL(); url != "" {
		logger.Info("browsers", "url", url, "origins", f.web.origins)
	}
	nc, err = join(b, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.IgnoreDiscoveredServers(), nats.CustomInboxPrefix(connect.InboxOf(grant.Coordinator, f.run)),
		connect.ErrorHandler(f.listen, logger))
	if err != nil {
		b.Shutdown()
		return nil, nil, err
	}
	return nc, func() { nc.Close(); b.Shutdown() }, nil
}

// loopback returns an error if other machines can reach the address of a flag. The broker that
// serve starts lets everybody connect, unless --auth gives it users.
func loopback(flag, address string) error {
	host, _, err := connect.SplitAddress(flag, address)
	if err == nil && !connect.IsLoopback(host) {
		return fmt.Errorf("%s %s: the broker that serve starts has no authentication, so it "+
			"listens on loopback only: give --tls and --auth DIR, or --url of a nats-server with TLS "+
			"and permissions", flag, address)
	}
	return err
}
