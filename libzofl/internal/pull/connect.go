package pull

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/enroll"
	"github.com/zofl/zofl/client/proxy"
)

// tls returns the settings of TLS; nil: those of package nats, which asks the system whom to trust.
func (c *Config) tls() *tls.Config {
	switch {
	case c.card != nil:
		host := ""
		if u, err := url.Parse(c.card.URL); err == nil {
			host = u.Hostname()
		}
		return enroll.TLS(c.card.Authority, host)
	case c.roots != nil:
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(c.roots)
		return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return nil
}

// options returns the options of a connection.
func (c *Config) options() []nats.Option {
	opts := append(client.ConnectOptions(c.ID),
		nats.IgnoreDiscoveredServers(), // a greeting comes before TLS, and may name anybody
		proxy.FromEnvironment(),
	)
	if t := c.tls(); t != nil {
		opts = append(opts, nats.Secure(t))
	}
	switch {
	case c.card != nil:
		opts = append(opts, nats.UserJWTAndSeed(c.card.JWT, c.card.Seed))
	case c.creds != nil:
		opts = append(opts, nats.UserCredentialBytes(c.creds))
	}
	return opts
}

// steady is how long a connection must last, so that the pauses between connections begin anew.
const steady = 5 * time.Minute

// run takes part until the run ends, ctx ends or an error is final. NATS itself reconnects, but
// closes a connection for good after an error that it does not know: then run makes another one.
func (d *Device) run(ctx context.Context) error {
	for pause := time.Second; ; pause = min(2*pause, steady) {
		began := time.Now()
		err := d.takePart(ctx)
		if !errors.Is(err, bus.ErrClosed) || ctx.Err() != nil {
			return err
		}
		if time.Since(began) > steady {
			pause = time.Second
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// takePart takes part over one connection.
func (d *Device) takePart(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	// A device that waits for an announcement would else notice the end at its next request.
	closed := nats.ClosedHandler(func(*nats.Conn) { end(bus.ErrClosed) })
	nc, err := nats.Connect(d.cfg.URL, append(d.cfg.options(), closed)...)
	if err != nil {
		return &fault{BadConfig, err}
	}
	defer nc.Close()
	config := d.cfg.client(d)
	config.Conn = nc
	if d.store != nil {
		config.Store = d.store
	}
	c, err := client.New(config)
	if err != nil {
		return err
	}
	d.connected(c, nc)
	return c.Run(ctx)
}
