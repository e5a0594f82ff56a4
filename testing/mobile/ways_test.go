package mobile

import (
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/zofl/zofl/client/mobile"
)

// TestLiveWays takes part through every kind of server address that a Config allows.
func TestLiveWays(t *testing.T) {
	t.Parallel()
	gone := newSite(t)
	gone.broker.Shutdown()
	for name, tt := range map[string]struct {
		host string
		ways func(s *server.Server) []string
		also string // certificates before the right one
	}{
		"websocket": {ways: func(s *server.Server) []string { return []string{s.WebsocketURL()} }},
		"IPv6": {host: "::1",
			ways: func(s *server.Server) []string { return []string{s.ClientURL()} }},
		"one of three": {ways: func(s *server.Server) []string {
			return []string{gone.url, s.ClientURL(), "tls://nowhere.invalid"}
		}},
		"one of two websockets": {ways: func(s *server.Server) []string {
			return []string{"wss://127.0.0.1:1", s.WebsocketURL()}
		}},
		"two authorities": {also: newAuthority(t).pem(),
			ways: func(s *server.Server) []string { return []string{s.ClientURL()} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.host == "::1" && !hasIPv6() {
				t.Skip("this machine has no address ::1")
			}
			s := &site{t: t, authority: newAuthority(t), app: newUser(t), ours: newUser(t)}
			opts := &server.Options{
				Host: tt.host, TLS: true, TLSConfig: s.authority.server(), TLSTimeout: patience.Seconds(),
				Nkeys: []*server.NkeyUser{{Nkey: s.app.public}, {Nkey: s.ours.public}},
				Websocket: server.WebsocketOpts{Host: tt.host, Port: server.RANDOM_PORT,
					TLSConfig: s.authority.server()},
			}
			if tt.host == "" {
				opts.Websocket.Host = "127.0.0.1"
			}
			b := serve(t, opts)
			s.url = b.ClientURL()
			l := s.lead(testPlan(t, "ways", 100, 1, 1, 5))
			cfg := mobile.NewConfig()
			cfg.Run, cfg.Device, cfg.Dim = "ways", "phone", 100
			cfg.SetObjective(flatBowl(1))
			if err := cfg.SetCA(tt.also + s.authority.pem()); err != nil {
				t.Fatal(err)
			}
			if err := cfg.SetCredentials(s.app.seed); err != nil {
				t.Fatal(err)
			}
			for _, address := range tt.ways(b) {
				if err := cfg.AddServer(address); err != nil {
					t.Fatal(err)
				}
			}
			p := newPhone(t, cfg)
			p.start()
			p.returned("")
			l.agrees(p.Client, p.id)
			p.alone()
		})
	}
}

// hasIPv6 reports whether this machine has the address ::1, which containers may lack.
func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	return err == nil && l.Close() == nil
}

// An expired certificate is not trusted.
func TestLiveExpiredCertificate(t *testing.T) {
	t.Parallel()
	s := &site{t: t, authority: newAuthority(t)}
	b := serve(t, &server.Options{TLS: true,
		TLSConfig: s.authority.serverUntil(time.Now().Add(-time.Minute)), TLSTimeout: patience.Seconds()})
	s.url = b.ClientURL()
	p := s.phone("nowhere", "phone", 10)
	p.faulted(mobile.CodeTLS)
	p.stopped()
	p.alone()
}
