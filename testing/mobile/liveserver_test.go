package mobile

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/zofl/zofl/client/mobile"
)

// TestLiveServers uses servers that a client must not or cannot use. The listener receives the
// reason. Run continues because somebody may correct the server, and Stop ends Run at once.
func TestLiveServers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	gone := newSite(t)
	gone.broker.Shutdown()
	for name, tt := range map[string]struct {
		edit func(t *testing.T, c *mobile.Config) error
		url  string
		code string
	}{
		"wrong CA": {func(t *testing.T, c *mobile.Config) error {
			return c.SetCA(newAuthority(t).pem())
		}, s.url, mobile.CodeTLS},
		"wrong name": {nil, strings.Replace(s.url, "127.0.0.1", "localhost", 1), mobile.CodeTLS},
		"wrong key": {func(t *testing.T, c *mobile.Config) error {
			return c.SetCredentials(newUser(t).seed)
		}, s.url,
			mobile.CodeUnauthorized},
		"no server":      {nil, gone.url, mobile.CodeOffline},
		"no TLS":         {nil, newOpenSite(t).url, mobile.CodeTLS},
		"no TLS, tls://": {nil, "tls" + strings.TrimPrefix(newOpenSite(t).url, "nats"), mobile.CodeTLS},
		"nkeys not wanted": {nil, (&site{t: t, authority: s.authority}).withoutKeys(),
			mobile.CodeUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := *s
			at.t, at.url = t, tt.url
			if tt.code == mobile.CodeTLS {
				at.app = user{} // a server that asks for no key is not asked for TLS
			}
			cfg := at.settings("nowhere", "phone", 10)
			if tt.edit != nil {
				if err := tt.edit(t, cfg); err != nil {
					t.Fatal(err)
				}
			}
			p := newPhone(t, cfg)
			p.start()
			p.faulted(tt.code)
			if p.State() != mobile.StateOffline {
				t.Errorf("state %s, want offline", mobile.StateName(p.State()))
			}
			p.stopped()
			p.alone()
			for _, f := range p.ear.all() {
				if strings.Contains(f, "cancel") || strings.Contains(f, s.app.seed) {
					t.Errorf("told %q", f)
				}
			}
		})
	}
}

// TestLiveServersLate checks that the client also reports a server that starts late and then
// refuses the client.
func TestLiveServersLate(t *testing.T) {
	t.Parallel()
	for code, edit := range map[string]func(c *mobile.Config) error{
		mobile.CodeTLS: func(c *mobile.Config) error { return c.SetCA(newAuthority(t).pem()) },
		mobile.CodeUnauthorized: func(c *mobile.Config) error {
			return c.SetCredentials(newUser(t).seed)
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.broker.Shutdown()
			cfg := s.settings("nowhere", "phone", 10)
			if err := edit(cfg); err != nil {
				t.Fatal(err)
			}
			p := newPhone(t, cfg)
			p.start()
			p.faulted(mobile.CodeOffline)
			s.start()
			p.Reconnect()
			p.faulted(code)
			p.stopped()
			p.alone()
		})
	}
}

// withoutKeys starts a broker that asks for no key, and returns its address.
func (s *site) withoutKeys() string {
	s.cfg.TLS = s.authority.server()
	s.start()
	return s.url
}

// TestLiveAdvertised checks that a client does not use other servers that its server names: after
// the client lost its server, it reconnects to that server and tries no other.
func TestLiveAdvertised(t *testing.T) {
	t.Parallel()
	came := make(chan struct{}, 100)
	i := newImpostor(t, `,"connect_urls":["192.0.2.1:4222"]`, func(conn net.Conn, in *bufio.Reader) {
		in.ReadString('\n') // CONNECT
		in.ReadString('\n') // PING
		io.WriteString(conn, "PONG\r\n")
		in.ReadString('\n') // SUB: now the client has the other address
		came <- struct{}{}
		conn.Close()
	})
	s := &site{t: t, url: "nats://" + i.listen.Addr().String()}
	p := s.phone("nowhere", "phone", 10)
	for range 2 {
		select {
		case <-came:
		case <-time.After(patience):
			t.Fatalf("does not come back, after %q", p.ear.all())
		}
	}
	p.stopped()
	if said := p.ear.said(mobile.CodeInsecure); len(said) > 0 {
		t.Errorf("told %q", said)
	}
	p.alone()
}

// TestLivePermission checks that Run ends, and names the subject, if the server denies the user a
// subject.
func TestLivePermission(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]server.Permissions{
		"replies":       {Publish: &server.SubjectPermission{Deny: []string{"zo.denied.p.>"}}},
		"announcements": {Subscribe: &server.SubjectPermission{Deny: []string{"zo.denied.a.>"}}},
		"an inbox":      {Subscribe: &server.SubjectPermission{Deny: []string{"_INBOX_phone.>"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := deniedSite(t, tt)
			s.lead(testPlan(t, "denied", 10, 1, 1, 3))
			p := s.phone("denied", "phone", 10)
			p.returned(mobile.CodePermission)
			if p.State() != mobile.StateIdle {
				t.Errorf("state %s after Run", mobile.StateName(p.State()))
			}
			p.alone()
		})
	}
}

// deniedSite returns a site whose app has permissions.
func deniedSite(t *testing.T, denied server.Permissions) *site {
	t.Helper()
	s := &site{t: t, authority: newAuthority(t), app: newUser(t), ours: newUser(t)}
	b := serve(t, &server.Options{
		TLS: true, TLSConfig: s.authority.server(), TLSTimeout: patience.Seconds(),
		Nkeys: []*server.NkeyUser{{Nkey: s.app.public, Permissions: &denied}, {Nkey: s.ours.public}},
	})
	s.url = b.ClientURL()
	return s
}

// TestLivePlaintext checks that an unencrypted run at an address of this machine needs no TLS and
// tries none, even if the app set a CA for other servers.
func TestLivePlaintext(t *testing.T) {
	t.Parallel()
	b := serve(t, &server.Options{
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true},
	})
	for _, address := range []string{b.ClientURL(), b.WebsocketURL()} {
		for _, ca := range []bool{false, true} {
			s := &site{t: t, url: b.ClientURL()}
			run := fmt.Sprintf("plain-%s-%v", address[:2], ca)
			l := s.lead(testPlan(t, run, 10, 1, 1, 5))
			s.url = address
			p := s.phone(run, "phone", 10, func(c *mobile.Config) {
				if !ca {
					return
				}
				if err := c.SetCA(newAuthority(t).pem()); err != nil {
					t.Fatal(err)
				}
			})
			p.returned("")
			l.agrees(p.Client, "phone")
		}
	}
}

// TestLiveServerGone checks that Stop does not wait for a server that went away during a run, and
// that RunFor does not exceed its time.
func TestLiveServerGone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.lead(testPlan(t, "gone", 100, 2, 2, 1_000_000))
	phones := []*phone{s.phone("gone", "a", 100), s.phone("gone", "b", 100)}
	for _, p := range phones {
		p.until("some rounds", func() bool { return p.Contributions() > 5 })
	}
	s.broker.Shutdown()
	for _, p := range phones {
		p.until("offline", func() bool { return p.State() == mobile.StateOffline })
		p.Reconnect()
		p.stopped()
		if n, err := p.Params(make([]byte, 400)); n == 0 || err != nil {
			t.Errorf("the model after Stop: record %d, %v", n, err)
		}
		p.alone()
	}
	p := newPhone(t, s.settings("gone", "c", 100))
	began := time.Now()
	if err := p.RunFor(50); err != nil {
		t.Error(err)
	}
	if d := time.Since(began); d > soon {
		t.Errorf("RunFor(50) took %v", d)
	}
}
