package main

import (
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/proxy"
	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// connect connects, or keeps trying: a device outlives network failures.
func connect(cfg *config.Config, log *slog.Logger) (*nats.Conn, error) {
	told := "" // the reason that was told last; the connection calls its handlers one by one
	opts := append(client.ConnectOptions(cfg.ID),
		// The broker's greeting comes before TLS. So an attacker in the middle could add a broker of
		// his own to the greeting, one for whose name he has a certificate.
		nats.IgnoreDiscoveredServers(),
		nats.ConnectHandler(func(c *nats.Conn) {
			told = ""
			log.Info("connected", "broker", c.ConnectedUrlRedacted())
		}),
		nats.ReconnectHandler(func(c *nats.Conn) {
			told = ""
			log.Info("connected again", "broker", c.ConnectedUrlRedacted())
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("not connected", "err", err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if text := err.Error(); text != told { // once, not at each attempt
				log.Warn("the broker cannot be reached: trying again", "url", config.Redact(cfg.URL),
					"err", err)
				told = text
			}
		}),
	)
	opts = append(opts, cfg.Enrolled.Options(cfg.URL)...)
	return nats.Connect(cfg.URL, append(opts, proxy.FromEnvironment())...)
}
