package connect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contextOf returns the connection with the settings of a context.
func contextOf(t *testing.T, content string) (*Connection, error) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "nats", "context")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Connection{}
	return c, (&contextFlag{c: c}).Set("x")
}

func TestContextFills(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	c, err := contextOf(t, "\ufeff// home\n"+`{"url": "tls://a:1,tls://u:v@b:2",
		"user": "me", "password": "p/w?",
		"nkey": "~/me.nk", "cert": "c.pem", "key": "k.pem", "ca": "ca.pem", "tls_first": true,
		"color_scheme": "green", "a field of a later version": {}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := Connection{URL: "tls://a:1,tls://u:v@b:2", user: "me", password: "p/w?",
		NKey: home + "/me.nk", cert: "c.pem", key: "k.pem", ca: "ca.pem", tlsFirst: true}
	settings := want.settings()
	want.context, c.context = nil, nil
	if *c != want || c.settings() != settings {
		t.Errorf("the connection is %+v, want %+v", *c, want)
	}
	if c, err = contextOf(t, `{"url": "tls://a:1", "token": "s3cret"}`); err != nil ||
		c.token != "s3cret" || strings.Contains(c.Redacted(), "s3cret") {
		t.Errorf("with a token: %+v, shown as %s, %v", c, c.Redacted(), err)
	}
}

// Set refuses a context with a field that connections do not support, and the error names a remedy.
func TestContextRefused(t *testing.T) {
	for content, says := range map[string]string{
		``:           "no context of the nats program",
		`[]`:         "no context of the nats program",
		`{"url": 4}`: "no context of the nats program",
		`{}`:         "url is missing",
		`{"url": "tls://a", "user": "u", "token": "t"}`:   "two users",
		`{"url": "tls://a", "nsc": "nsc://o/a/u"}`:        "nsc generate creds",
		`{"url": "tls://a", "user_jwt": "j"}`:             "creds",
		`{"url": "tls://a", "user_seed": "s"}`:            "nkey",
		`{"url": "tls://a", "socks_proxy": "socks5://"}`:  "socks_proxy",
		`{"url": "tls://a", "jetstream_domain": "hub"}`:   "jetstream_domain",
		`{"url": "tls://a", "jetstream_api_prefix": "x"}`: "jetstream_api_prefix",
		`{"url": "tls://a", "inbox_prefix": "_I"}`:        "inbox_prefix",
		`{"url": "tls://a", "windows_cert_store": "x"}`:   "windows_cert_store",
	} {
		if _, err := contextOf(t, content); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "x.json") {
			t.Errorf("%s: %v, want an error that says %q", content, err, says)
		}
	}
	// The checks of the flags also apply to the values of a context.
	c, err := contextOf(t, `{"url": "nats://far.example:4222"}`)
	if err == nil {
		_, err = c.options("x", "")
	}
	if err == nil || !strings.Contains(err.Error(), "--plaintext") {
		t.Errorf("without TLS: %v", err)
	}
}

// FuzzContext: no context makes a panic, nor a connection without an address.
func FuzzContext(f *testing.F) {
	f.Add([]byte(`{"url": "tls://a:1,b", "user": "me", "password": "p"}`))
	f.Add([]byte(`{"url": ",", "token": "%"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		n, c := &natsContext{}, &Connection{}
		if json.Unmarshal(content, n) != nil || n.fill(c) != nil {
			return
		}
		if c.URL == "" {
			t.Error("no address")
		}
		_ = c.Redacted()
	})
}
