package main

import (
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/internal/proxytest"
)

// proxied are the servers that only a proxy reaches, because their name does not exist.
const (
	proxiedWeb = "wss://broker.invalid"
	proxiedTLS = "tls://broker.invalid:4222"
)

// secureServer starts a nats-server with TLS on each port. It returns the port's addresses, and a
// file with the certificate to trust.
func secureServer(t *testing.T) (tcp, web, ca string) {
	t.Helper()
	a, err := broker.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	secure, err := a.Server(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, a.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, TLSConfig: secure,
		TLSTimeout: patience.Seconds(), NoSigs: true, NoLog: true}
	opts.Websocket.Host, opts.Websocket.Port = "127.0.0.1", server.RANDOM_PORT
	opts.Websocket.TLSConfig = secure
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	return s.Addr().String(), strings.TrimPrefix(s.WebsocketURL(), "wss://"), ca
}

// without removes the variables that name proxies, and sets those of the test.
func without(t *testing.T, settings ...string) {
	t.Helper()
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"} {
		t.Setenv(name, "")
		t.Setenv(strings.ToLower(name), "")
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
}

// TestProxy: devices train in one run over wss:// through an HTTP proxy that wants a login, over
// tls:// through a SOCKS proxy, and directly. serve reaches the broker on its own machine without a
// proxy, whatever the environment names.
func TestProxy(t *testing.T) {
	tcp, web, ca := secureServer(t)
	office := &proxytest.HTTP{To: web, Login: "bob:s3cret", Asked: make(chan string, 100)}
	proxy := httptest.NewServer(office)
	t.Cleanup(proxy.Close)
	tunnel := &proxytest.SOCKS{To: tcp, Login: "bob:s3cret", Asked: make(chan string, 100)}
	socks := proxytest.Listen(t, tunnel.Serve)
	without(t, "https_proxy="+strings.Replace(proxy.URL, "//", "//bob:s3cret@", 1),
		"ALL_PROXY=socks5://bob:s3cret@"+socks)
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	if _, err := zofl(t, "plan", "--preset", "zofl", "--run", "kitchen",
		"--dim", "3", "--set", "members=3", "--set",
		"quorum=3", "--set", "rounds=5", "--write", plan); err != nil {
		t.Fatal(err)
	}
	direct := "tls://" + tcp
	serve := start(t, "serve", plan, "--store", filepath.Join(dir, "log"), "--url", direct,
		"--tls-ca", ca)
	for id, url := range map[string]string{"a": proxiedWeb, "b": proxiedTLS, "c": direct} {
		defer func(p *process) {
			if code := p.exited(); code != 0 {
				t.Errorf("the device at %s exits with %d: %s", url, code, p.stderr.String())
			}
		}(start(t, "client", "--url", url, "--tls-ca", ca, "--run", "kitchen", "--id", id,
			"--objective", "bowl", "--dim", "3"))
	}
	serve.says(&serve.stderr, "msg=ended", "reason=rounds")
	if asked := <-office.Asked; asked != "CONNECT broker.invalid:443" {
		t.Errorf("the HTTP proxy was asked to %s", asked)
	}
	if asked := <-tunnel.Asked; asked != "broker.invalid:4222" {
		t.Errorf("the SOCKS proxy was asked for %s", asked)
	}
}

// TestProxyRefuses: commands name the proxy that does not let them through, without its password,
// and the remedy. A command that runs for long says so once, and goes on when the proxy lets it
// through.
func TestProxyRefuses(t *testing.T) {
	_, web, ca := secureServer(t)
	office := &proxytest.HTTP{To: web, Login: "bob:other", Asked: make(chan string, 100)}
	proxy := httptest.NewServer(office)
	t.Cleanup(proxy.Close)
	status := []string{"status", "--run", "kitchen", "--url", proxiedWeb, "--tls-ca", ca}
	without(t, "HTTPS_PROXY="+strings.Replace(proxy.URL, "//", "//bob:s3cret@", 1))
	code, _, said := runs(t, status...)
	if code != cli.ExitAbsent || strings.Contains(said, "s3cret") || !hasAll(said, []string{
		"proxy " + proxy.URL, "407", "correct HTTPS_PROXY", "NO_PROXY=broker.invalid"}) {
		t.Errorf("status exits with %d: %s", code, said)
	}
	device := start(t, "client", "--url", proxiedWeb, "--tls-ca", ca, "--run", "kitchen", "--id", "a",
		"--objective", "bowl", "--dim", "3")
	device.says(&device.stderr, "proxy "+proxy.URL, "407", "correct HTTPS_PROXY")
	mute := proxytest.Listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	gone := strings.TrimPrefix(proxy.URL, "http://")
	proxy.Close()
	for address, want := range map[string]string{gone: "is a proxy running there?",
		mute: "no answer in time"} {
		for _, scheme := range []string{"http", "https", "socks5"} {
			without(t, "HTTPS_PROXY="+scheme+"://bob:s3cret@"+address)
			defer func(p *process) { // all wait at the same time
				code, said := p.exited(), p.stderr.String()
				if code != cli.ExitAbsent || strings.Contains(said, "s3cret") ||
					!hasAll(said, []string{"proxy " + scheme + "://" + address, want}) {
					t.Errorf("%s: status exits with %d: %s", scheme, code, said)
				}
			}(start(t, status...))
		}
	}
	without(t, "ALL_PROXY=ftp://bob:s3cret@"+gone)
	code, _, said = runs(t, status...)
	if code != cli.ExitUsage || strings.Contains(said, "s3cret") ||
		!strings.Contains(said, "ALL_PROXY") {
		t.Errorf("an unknown kind of proxy: status exits with %d: %s", code, said)
	}
}
