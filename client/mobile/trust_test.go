package mobile

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// handshake returns the error of a client of cfg for a server's certificates. It calls the Trust of
// cfg, if cfg has one.
func handshake(ctx context.Context, cfg *Config, server tls.Certificate) error {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		tls.Server(far, &tls.Config{Certificates: []tls.Certificate{server}}).Handshake()
		far.Close()
	}()
	settings := (&verifier{cfg, ctx, newTruster(&cfg.callbacks)}).tls()
	settings.ServerName = cfg.servers[0].Hostname() // as NATS does
	err := tls.Client(near, settings).Handshake()
	if untrusted := (*tls.CertificateVerificationError)(nil); err != nil &&
		(!errors.As(err, &untrusted) || connectCode(err) != CodeTLS) {
		return errors.Join(errors.New("of the wrong kind"), err)
	}
	return err
}

// A trustFunc is a Trust that is a function.
type trustFunc func(*Chain) error

func (f trustFunc) Check(c *Chain) error { return f(c) }

// tlsAt returns a Config with a server.
func tlsAt(t *testing.T, host string) *Config {
	t.Helper()
	cfg := config()
	cfg.servers = nil
	if err := cfg.AddServer("tls://" + host); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// The app's Trust decides, and receives the certificates that the server sent. The library also
// checks the server's name.
func TestTrust(t *testing.T) {
	good, named := newChain(t, "127.0.0.1", time.Hour), newChain(t, "zofl.example.org", time.Hour)
	no := errors.New("not today")
	for _, tt := range []struct {
		name, host, sees string
		server           *chain
		says             error
		refusal          string // "": trusted
	}{
		{"an address", "127.0.0.1", "127.0.0.1", good, nil, ""},
		{"a name", "zofl.example.org", "zofl.example.org", named, nil, ""},
		{"a name with a dot", "zofl.example.org.", "zofl.example.org.", named, nil, ""},
		{"refused", "127.0.0.1", "127.0.0.1", good, no, "not today"},
		{"another name", "zofl.example.com", "", named, nil, "zofl.example.com"},
		{"another address", "127.0.0.2", "", good, nil, "127.0.0.2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, asked := tlsAt(t, tt.host), 0
			cfg.SetTrust(trustFunc(func(c *Chain) error {
				asked++
				if c.Host() != tt.sees || c.Len() != 2 || c.AuthType() != "ECDHE_ECDSA" ||
					string(c.Certificate(1)) != string(tt.server.ca.Raw) ||
					c.Certificate(2) != nil || c.Certificate(-1) != nil {
					t.Errorf("the app sees %d certificates for %q of type %s", c.Len(), c.Host(),
						c.AuthType())
				}
				return tt.says
			}))
			err := handshake(t.Context(), cfg, tt.server.pair)
			if tt.refusal == "" != (err == nil) ||
				err != nil && !strings.Contains(err.Error(), tt.refusal) {
				t.Errorf("got %v, want %q", err, tt.refusal)
			}
			if want := min(1, len(tt.sees)); asked != want {
				t.Errorf("asked %d times, want %d", asked, want)
			}
		})
	}
}

// If a Trust panics, hangs or was released, the client trusts no server. The client does not call a
// hanging Trust again, and the end of Run does not wait for it.
func TestTrustMisbehaves(t *testing.T) {
	server := newChain(t, "127.0.0.1", time.Hour)
	cfg := tlsAt(t, "127.0.0.1")
	cfg.SetTrust(trustFunc(func(*Chain) error { panic("oh") }))
	if err := handshake(t.Context(), cfg, server.pair); err == nil ||
		!strings.Contains(err.Error(), "oh") {
		t.Errorf("a panic: %v", err)
	}
	cfg.callbacks.release()
	if err := handshake(t.Context(), cfg, server.pair); !errors.Is(err, errReleased) {
		t.Errorf("released: %v", err)
	}

	over := make(chan struct{})
	asker := newTruster(&cfg.callbacks)
	cfg.SetTrust(trustFunc(func(*Chain) error { <-over; return nil }))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	if err := asker.ask(ctx, &Chain{}); err != errStopped {
		t.Errorf("at the end of Run: %v", err)
	}
	if err := asker.ask(t.Context(), &Chain{}); err != errTrustBusy {
		t.Errorf("while it hangs: %v", err)
	}
	close(over)
	asker.busy <- struct{}{} // once it has returned
	<-asker.busy
	if err := asker.ask(t.Context(), &Chain{}); err != nil {
		t.Errorf("after that: %v", err)
	}
	asker.within = time.Nanosecond
	over = make(chan struct{})
	defer close(over)
	if err := asker.ask(t.Context(), &Chain{}); err != errTrustSlow {
		t.Errorf("it takes long: %v", err)
	}
}

// pinOf returns the pin of a certificate's key.
func pinOf(der []byte) string {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return pinStart + base64.StdEncoding.EncodeToString(sum[:])
}

// With pins the server must prove that it has one of the keys, in addition to all other checks of
// its certificates. An authority that did not sign the certificate proves nothing, even if the
// server sends it.
func TestPins(t *testing.T) {
	good, other := newChain(t, "127.0.0.1", time.Hour), newChain(t, "127.0.0.1", time.Hour)
	shows := other.pair
	shows.Certificate = [][]byte{other.pair.Certificate[0], other.ca.Raw, good.ca.Raw}
	trusts := map[string]func(*Config, *chain){
		"authorities": func(c *Config, of *chain) {
			text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: of.ca.Raw})
			if err := c.SetCA(string(text)); err != nil {
				t.Fatal(err)
			}
		},
		"trust": func(c *Config, _ *chain) {
			c.SetTrust(trustFunc(func(*Chain) error { return nil }))
		},
		"enrolled": func(c *Config, of *chain) {
			sum := sha256.Sum256(of.ca.Raw)
			c.pin = sum[:]
		},
	}
	for how, trust := range trusts {
		own, authority, strange := pinOf(good.pair.Certificate[0]), pinOf(good.ca.Raw),
			pinOf(other.ca.Raw)
		for name, tt := range map[string]struct {
			pins   []string
			of     *chain
			server tls.Certificate
			good   bool
		}{
			"the server's":          {[]string{own}, good, good.pair, true},
			"the authority's":       {[]string{authority}, good, good.pair, true},
			"one of two":            {[]string{strange, authority}, good, good.pair, true},
			"another":               {[]string{strange}, good, good.pair, false},
			"of one that is shown":  {[]string{authority}, other, shows, false},
			"none, but the trusted": {nil, good, good.pair, true},
		} {
			cfg := tlsAt(t, "127.0.0.1")
			trust(cfg, tt.of)
			for _, pin := range tt.pins {
				if err := cfg.AddPin(pin); err != nil {
					t.Fatal(err)
				}
			}
			err := handshake(t.Context(), cfg, tt.server)
			if tt.good != (err == nil) || err != nil && !errors.Is(err, errPin) {
				t.Errorf("%s, pin %s: %v, want trust: %v", how, name, err, tt.good)
			}
		}
	}
	for _, pin := range []string{"", "sha256/", "sha256/AAAA", pinOf(good.ca.Raw)[1:],
		pinOf(good.ca.Raw) + "A", strings.Repeat("x", 1<<20)} {
		err := config().AddPin(pin)
		hasCode(t, "AddPin", err, CodeConfig)
		if len(err.Error()) > 300 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

// The last call of SetCA, SetTrust or Enroll decides which servers the client trusts.
func TestTrustIsReplaced(t *testing.T) {
	pair, leaf := selfSigned(t)
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}))
	cfg := tlsAt(t, "localhost")
	yes := trustFunc(func(*Chain) error { return nil })
	no := trustFunc(func(*Chain) error { return errors.New("no") })
	for i, step := range []struct {
		do   func() error
		good bool
	}{
		{func() error { cfg.SetTrust(yes); return nil }, true},
		{func() error { cfg.SetTrust(no); return nil }, false},
		{func() error { return cfg.SetCA(text) }, true},
		{func() error { cfg.SetTrust(no); return nil }, false},
		{func() error { cfg.SetTrust(nil); return nil }, false}, // the system's authorities
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if err := handshake(t.Context(), cfg, pair); step.good != (err == nil) {
			t.Errorf("step %d: %v, want trust: %v", i, err, step.good)
		}
	}
}
