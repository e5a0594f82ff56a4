package mobile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/enroll"
)

// card returns the parts of a line that a phone accepts.
func card(fingerprint []byte) url.Values {
	return url.Values{"v": {"1"}, "url": {"tls://127.0.0.1:4222"}, "run": {"kitchen"},
		"id": {"phone"}, "ca": {base64.RawURLEncoding.EncodeToString(fingerprint)},
		"seed": {userSeed}, "jwt": {token}}
}

// Enroll sets all that a connection needs, in place of earlier settings. For a damaged line the
// error says what is wrong and contains none of the line's secrets, and Enroll changes nothing.
func TestEnroll(t *testing.T) {
	cfg, pin := config(), sha256.Sum256([]byte("ca"))
	_, ca := selfSigned(t)
	cfg.roots = x509.NewCertPool()
	cfg.roots.AddCert(ca)
	for name, tt := range map[string]struct {
		edit func(url.Values)
		code string
		says string
	}{
		"version":     {func(q url.Values) { q.Set("v", "2") }, CodeUpgrade, `version "2"`},
		"no version":  {func(q url.Values) { q.Del("v") }, CodeUpgrade, `version ""`},
		"no url":      {func(q url.Values) { q.Del("url") }, CodeConfig, "no url"},
		"no run":      {func(q url.Values) { q.Del("run") }, CodeConfig, "no run"},
		"no id":       {func(q url.Values) { q.Set("id", "") }, CodeConfig, "no id"},
		"no ca":       {func(q url.Values) { q.Del("ca") }, CodeConfig, "no ca"},
		"no seed":     {func(q url.Values) { q.Del("seed") }, CodeConfig, "no seed"},
		"no jwt":      {func(q url.Values) { q.Del("jwt") }, CodeConfig, "no jwt"},
		"short ca":    {func(q url.Values) { q.Set("ca", "AAAA") }, CodeConfig, "32 bytes"},
		"bad ca":      {func(q url.Values) { q.Set("ca", "!") }, CodeConfig, "base64url"},
		"bad url":     {func(q url.Values) { q.Set("url", "http://x") }, CodeConfig, "http"},
		"bad seed":    {func(q url.Values) { q.Set("seed", userSeed[:50]) }, CodeCredentials, "seed"},
		"bad key":     {func(q url.Values) { q.Set("key", "ed25519:x") }, CodeConfig, "key is no"},
		"not a token": {func(q url.Values) { q.Set("jwt", "x") }, CodeCredentials, "no JWT"},
	} {
		q := card(pin[:])
		tt.edit(q)
		err := cfg.Enroll(enroll.Start + q.Encode())
		hasCode(t, name, err, tt.code)
		if err != nil && (!strings.Contains(err.Error(), tt.says) ||
			strings.Contains(err.Error(), userSeed[:20])) {
			t.Errorf("%s: %v, want %q and no secret", name, err, tt.says)
		}
		if cfg.Device != "phone-7" || cfg.pin != nil || len(cfg.servers) != 1 {
			t.Fatalf("%s: the config has changed: %v", name, cfg)
		}
	}
	for _, line := range []string{"", "zofl:v=1", userSeed, enroll.Start + "v=1&seed=%zz" + userSeed} {
		err := cfg.Enroll(line)
		hasCode(t, "a damaged line", err, CodeConfig)
		if strings.Contains(err.Error(), "SUAAA") {
			t.Errorf("a secret in %v", err)
		}
	}
	if err := cfg.Enroll("  " + enroll.Start + card(pin[:]).Encode() + "\n"); err != nil {
		t.Fatal(err)
	}
	if cfg.Run != "kitchen" || cfg.Device != "phone" || len(cfg.servers) != 1 ||
		cfg.servers[0].Host != "127.0.0.1:4222" || cfg.roots != nil || cfg.credentials == nil {
		t.Errorf("%v at %v", cfg, cfg.servers)
	}
	cfg.Plaintext = false
	if _, err := NewClient(cfg); err != nil {
		t.Error(err)
	}
}

// A chain is an authority, and a certificate that it signed for some names.
type chain struct {
	ca   *x509.Certificate
	pair tls.Certificate
}

func newChain(t *testing.T, host string, valid time.Duration) *chain {
	t.Helper()
	made := func(is bool, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate,
		*ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: is,
			BasicConstraintsValid: true, NotAfter: time.Now().Add(valid)}
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = []net.IP{ip}
		} else {
			template.DNSNames = []string{host}
		}
		if is {
			template.NotAfter, parent, by = time.Now().Add(time.Hour), template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
		if err != nil {
			t.Fatal(err)
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return c, key
	}
	ca, by := made(true, nil, nil)
	leaf, key := made(false, ca, by)
	return &chain{ca, tls.Certificate{Certificate: [][]byte{leaf.Raw, ca.Raw}, PrivateKey: key}}
}

// A phone that was enrolled trusts only servers whose certificate the pinned authority signed for
// the address of the line.
func TestEnrolledTrust(t *testing.T) {
	good := newChain(t, "127.0.0.1", time.Hour)
	named := newChain(t, "zofl.example.org", time.Hour)
	other := newChain(t, "127.0.0.1", time.Hour)
	shows := other.pair // what anybody can send: the pinned authority, after a certificate not its own
	shows.Certificate = [][]byte{other.pair.Certificate[0], good.ca.Raw}
	for name, tt := range map[string]struct {
		url    string
		pinned *chain
		server tls.Certificate
		trust  bool
	}{
		"an address":        {"tls://127.0.0.1:1", good, good.pair, true},
		"a name":            {"tls://zofl.example.org:1", named, named.pair, true},
		"another authority": {"tls://127.0.0.1:1", good, other.pair, false},
		"one only shown":    {"tls://127.0.0.1:1", good, shows, false},
		"another address":   {"tls://127.0.0.2:1", good, good.pair, false},
		"another name":      {"tls://zofl.example.com:1", named, named.pair, false},
		"a late certificate": {"tls://127.0.0.1:1", nil,
			newChain(t, "127.0.0.1", -time.Minute).pair, false},
	} {
		t.Run(name, func(t *testing.T) {
			var authority []byte
			if tt.pinned != nil {
				authority = tt.pinned.ca.Raw
			} else {
				authority = tt.server.Certificate[1]
			}
			sum, cfg := sha256.Sum256(authority), config()
			cfg.servers = nil
			q := card(sum[:])
			q.Set("url", tt.url)
			if err := cfg.Enroll(enroll.Start + q.Encode()); err != nil {
				t.Fatal(err)
			}
			if err := handshake(t.Context(), cfg, tt.server); tt.trust != (err == nil) {
				t.Errorf("got %v, want trust: %v", err, tt.trust)
			}
		})
	}
}

// FuzzEnroll: Enroll sets all settings of a line or none, and no error contains the seed.
func FuzzEnroll(f *testing.F) {
	pin := sha256.Sum256([]byte("ca"))
	q := card(pin[:])
	f.Add(enroll.Start + q.Encode())
	f.Add(" " + enroll.Start + q.Encode() + "\n")
	f.Add(enroll.Start + "v=1&seed=" + userSeed)
	f.Add(enroll.Start + strings.ReplaceAll(q.Encode(), "=", "%3D"))
	f.Fuzz(func(t *testing.T, line string) {
		cfg := config()
		err := cfg.Enroll(line)
		switch {
		case err == nil && (cfg.pin == nil || cfg.credentials == nil || len(cfg.servers) != 1):
			t.Errorf("half of a line is set: %v", cfg)
		case err != nil && (cfg.pin != nil || cfg.Device != "phone-7"):
			t.Errorf("a line that fails with %v is set: %v", err, cfg)
		case err != nil && strings.Contains(err.Error(), userSeed[:20]):
			t.Errorf("a secret in %v", err)
		}
	})
}
