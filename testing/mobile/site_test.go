package mobile

import (
	"encoding/pem"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// A site is a place for runs: a broker at a fixed address, which the test can stop and restart.
type site struct {
	t         *testing.T
	authority *authority // nil: no TLS
	app, ours user       // the app's user, and the user of clients in this process
	cfg       broker.Config
	broker    *broker.Broker
	url       string
}

// newSite starts a broker that accepts connections over TLS from users with a key.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, authority: newAuthority(t), app: newUser(t), ours: newUser(t)}
	s.cfg = broker.Config{Listen: freeport.Address(t), TLS: s.authority.server(),
		Nkeys: []string{s.app.public, s.ours.public}}
	s.start()
	return s
}

// newOpenSite starts a broker that accepts any connection.
func newOpenSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, cfg: broker.Config{Listen: freeport.Address(t)}}
	s.start()
	return s
}

func (s *site) start() {
	s.t.Helper()
	b, err := broker.Run(s.cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.broker, s.url = b, b.URL()
	s.t.Cleanup(b.Shutdown)
}

// restart stops the broker and starts another at its address.
func (s *site) restart() {
	s.t.Helper()
	s.broker.Shutdown()
	s.start()
}

// connect makes a connection of this process that survives a restart of the broker.
func (s *site) connect(name string) *nats.Conn {
	s.t.Helper()
	opts := client.ConnectOptions(name)
	if s.authority != nil {
		opts = append(opts, s.authority.Trust(), s.ours.key)
	}
	nc, err := nats.Connect(s.url, opts...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(nc.Close)
	return nc
}

// certificate returns the server's, in PEM.
func (s *site) certificate() string {
	own := s.cfg.TLS.Certificates[0].Certificate[0]
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own}))
}

// way returns how an app reaches the site, as arguments of the programs in java.
func (s *site) way() map[string]any {
	if s.authority == nil {
		return map[string]any{"url": s.url, "plaintext": true}
	}
	return map[string]any{"url": s.url, "ca": s.authority.pem(), "credentials": s.app.seed}
}
