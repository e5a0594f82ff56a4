package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/internal/proxytest"
)

const patience = 30 * time.Second

// greets is a server that says something first, as a NATS server does, and then echoes.
func greets(conn net.Conn) {
	io.WriteString(conn, "INFO\n")
	io.Copy(conn, conn)
}

// through dials an address through the proxy that HTTPS_PROXY names, and talks to the server.
func through(t *testing.T, proxy, address string, trust *tls.Config, within time.Duration) error {
	t.Helper()
	set(t, "HTTPS_PROXY="+proxy)
	d, err := NewDialer([]string{"wss://" + address}, within)
	if err != nil {
		t.Fatal(err)
	}
	d.TLS = trust
	conn, err := d.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for _, want := range []string{"INFO\n", "PING\n"} {
		if want != "INFO\n" {
			io.WriteString(conn, want)
		}
		if got, err := reader.ReadString('\n'); got != want {
			t.Errorf("through %s: %q (%v), want %q", proxy, got, err, want)
		}
	}
	return nil
}

// TestHTTP: an HTTP proxy, also one with TLS, connects to the address, which it resolves itself.
func TestHTTP(t *testing.T) {
	p := &proxytest.HTTP{To: proxytest.Listen(t, greets), Login: "bob:p@ss/w?rd",
		Asked: make(chan string, 1)}
	plain, secured := httptest.NewServer(p), httptest.NewTLSServer(p)
	defer plain.Close()
	defer secured.Close()
	trust := secured.Client().Transport.(*http.Transport).TLSClientConfig
	const user = "bob:p%40ss%2Fw%3Frd@"
	for _, proxy := range []string{
		strings.Replace(plain.URL, "//", "//"+user, 1),
		strings.Replace(secured.URL, "//", "//"+user, 1),
	} {
		if err := through(t, proxy, "broker.invalid:443", trust, patience); err != nil {
			t.Error(err)
			continue
		}
		if asked := <-p.Asked; asked != "CONNECT broker.invalid:443" {
			t.Errorf("%s was asked for %s", proxy, asked)
		}
	}
	err := through(t, secured.URL, "broker.invalid:443", nil, patience)
	checkFault(t, err, secured.URL, "certificate")
}

// checkFault checks that an error names the proxy and the words, and no password.
func checkFault(t *testing.T, err error, proxy string, words ...string) {
	t.Helper()
	if fault := (*Error)(nil); !errors.As(err, &fault) {
		t.Errorf("%s: %v, want an *Error", proxy, err)
		return
	}
	for _, word := range append(words, "proxy "+proxy, "NO_PROXY=broker.invalid") {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", proxy, err, word)
		}
	}
	if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %q has the password, or more than a line", proxy, err)
	}
}

// TestRefusals: what a proxy says instead of connecting is named, with the remedy.
func TestRefusals(t *testing.T) {
	for answer, want := range map[string]string{
		"407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x": "correct HTTPS_PROXY",
		"407 Proxy Authentication Required\r\nProxy-Authenticate: NTLM":          "NTLM: run a program",
		"403 Forbidden":       "allow CONNECT to this port",
		"405 Method\x1b Not":  "405 Method Not",
		"502 Bad Gateway":     "does not reach broker.invalid:443",
		"503 Unavailable":     "does not reach broker.invalid:443",
		"504 Gateway Timeout": "does not reach broker.invalid:443",
		"302 Found":           "302 Found: correct HTTPS_PROXY",
		"":                    "no answer of an HTTP proxy",
		"x\r\n\r\n\r\n":       "no answer of an HTTP proxy",
	} {
		address := proxytest.Listen(t, func(conn net.Conn) {
			http.ReadRequest(bufio.NewReader(conn))
			if answer != "" {
				fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", answer)
			}
		})
		err := through(t, "http://bob:secret@"+address, "broker.invalid:443", nil, patience)
		checkFault(t, err, "http://"+address, want)
	}
	p := httptest.NewServer(&proxytest.HTTP{Login: "bob:secret"})
	defer p.Close()
	err := through(t, p.URL, "broker.invalid:443", nil, patience)
	checkFault(t, err, p.URL, "407", "HTTPS_PROXY=http://USER:PASSWORD@")
}

// TestUnreachable: a proxy that is not there, or does not answer, is named. The timeout bounds the
// whole attempt.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	gone := l.Addr().String()
	err = through(t, "http://bob:secret@"+gone, "broker.invalid:443", nil, patience)
	checkFault(t, err, "http://"+gone, "refused: is a proxy running there?")
	mute := proxytest.Listen(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	for _, scheme := range []string{"http", "https", "socks5"} {
		err := through(t, scheme+"://bob:secret@"+mute, "broker.invalid:443", nil, 50*time.Millisecond)
		checkFault(t, err, scheme+"://"+mute, "no answer in time", "HTTPS_PROXY")
		if timeout := (net.Error)(nil); !errors.As(err, &timeout) || !timeout.Timeout() ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v is no timeout", scheme, err)
		}
	}
}

// TestServerHangs: the deadline of an attempt also bounds the wait for a server behind the proxy,
// because NATS sets no deadline for the handshake of wss://.
func TestServerHangs(t *testing.T) {
	mute := proxytest.Listen(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	p := httptest.NewServer(&proxytest.HTTP{To: mute, Asked: make(chan string, 1)})
	defer p.Close()
	set(t, "HTTPS_PROXY="+p.URL)
	d, err := NewDialer([]string{"wss://broker.invalid"}, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := d.Dial("tcp", "broker.invalid:443")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); !timedOut(err) {
		t.Errorf("%v, want a timeout", err)
	}
}
