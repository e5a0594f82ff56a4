package mobile

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
)

// greet writes the first message of a NATS server.
func greet(conn net.Conn, more string) {
	fmt.Fprintf(conn, `INFO {"server_id":"X","version":"2.11.0","proto":1,"headers":true,`+
		`"max_payload":67108864%s}`+"\r\n", more)
}

// connectedOnce waits until Run's first connection attempts are over.
func connectedOnce(c *Client) {
	for {
		c.mu.Lock()
		over := c.nc != nil
		c.mu.Unlock()
		if over {
			return
		}
		pause()
	}
}

// A greeting comes before TLS, so an attacker in the middle can write the greeting. The client does
// not connect to the servers that the greeting names, with or without TLS.
func TestOnlyServersOfTheConfig(t *testing.T) {
	for _, scheme := range []string{"tls", "nats"} {
		t.Run(scheme, func(t *testing.T) {
			address, accepted := silent(t)
			other, lured := silent(t)
			cfg := config()
			cfg.servers, cfg.Plaintext = nil, scheme == "nats"
			if err := cfg.AddServer(scheme + "://" + address); err != nil {
				t.Fatal(err)
			}
			c := made(t, cfg)
			result := running(t, c)
			conn := <-accepted
			greet(conn, fmt.Sprintf(`,"tls_available":%v,"connect_urls":[%q]`, scheme == "tls", other))
			conn.Read(make([]byte, 1)) // the client has read the greeting
			conn.Close()
			connectedOnce(c)
			c.Reconnect()
			select {
			case conn := <-accepted:
				conn.Close()
			case <-lured:
				t.Error("connected to a server that a greeting named")
			case <-time.After(patience):
				t.Error("did not connect again")
			}
			c.Stop()
			if err := ends(t, result); err != nil {
				t.Error(err)
			}
			if len(lured) > 0 {
				t.Error("connected to a server that a greeting named")
			}
		})
	}
}

// If the network is gone during a write, Reconnect takes a second longer, and not the minute that
// NATS would try to write.
func TestReconnectWhileWriting(t *testing.T) {
	address, accepted := silent(t)
	cfg := configAt(t, address)
	c := made(t, cfg)
	result := running(t, c)
	conn := <-accepted
	defer conn.Close()
	in := welcome(conn)
	for !c.latest().online {
		pause()
	}
	c.mu.Lock()
	nc := c.nc
	c.mu.Unlock()
	written := make(chan error, 1)
	go func() { written <- bus.NATS(nc).Publish("x", make([]byte, 16<<20)) }()
	// read no more, so that the client's write waits
	if _, err := io.CopyN(io.Discard, in, 1<<20); err != nil {
		t.Fatal(err)
	}
	prompt(t, "Reconnect", c.Reconnect)
	select {
	case again := <-accepted:
		again.Close()
	case <-time.After(patience):
		t.Error("did not connect again")
	}
	hasCode(t, "what was being written", coded(<-written), CodeOffline)
	c.Stop()
	if err := ends(t, result); err != nil {
		t.Error(err)
	}
}

// A failed TLS handshake has a code other than offline, because waiting for a network does not
// help.
func TestHandshakeCodes(t *testing.T) {
	for name, server := range map[string]*tls.Config{
		"another authority":        {},
		"an old version":           {MaxVersion: tls.VersionTLS11},
		"asks for a certificate":   {ClientAuth: tls.RequireAnyClientCert},
		"asks for one, in TLS 1.2": {ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			certificate, leaf := selfSigned(t)
			server.Certificates = []tls.Certificate{certificate}
			roots := x509.NewCertPool()
			if name != "another authority" {
				roots.AddCert(leaf)
			}
			near, far := net.Pipe()
			defer near.Close()
			go func() {
				conn := tls.Server(far, server)
				conn.Handshake()
				io.Copy(io.Discard, far)
			}()
			conn := tls.Client(near,
				&tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12})
			err := conn.Handshake()
			if err == nil {
				_, err = conn.Read(make([]byte, 1))
			}
			if code := connectCode(fmt.Errorf("nats: %w", err)); code != CodeTLS {
				t.Errorf("%v has code %q, want %q", err, code, CodeTLS)
			}
		})
	}
}

// selfSigned returns a certificate for localhost.
func selfSigned(t *testing.T) (tls.Certificate, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, leaf
}

// welcome does the part of a server until a client is connected.
func welcome(conn net.Conn) *bufio.Reader {
	greet(conn, "")
	in := bufio.NewReader(conn)
	in.ReadString('\n') // CONNECT
	in.ReadString('\n') // PING
	io.WriteString(conn, "PONG\r\n")
	return in
}

// If a server ends a connection with an error that NATS does not know, NATS closes the connection
// for good. The client then connects again and does not end Run.
func TestServerEndsConnection(t *testing.T) {
	address, accepted := silent(t)
	cfg := configAt(t, address)
	told := &listener{}
	cfg.SetListener(told)
	c := made(t, cfg)
	result := running(t, c)
	var ended *nats.Conn
	for range 3 {
		select {
		case conn := <-accepted:
			defer conn.Close()
			in := welcome(conn)
			in.ReadString('\n') // SUB
			c.mu.Lock()
			ended = c.nc
			c.mu.Unlock()
			io.WriteString(conn, "-ERR 'Too Much of Something'\r\n")
			for late := time.Now().Add(patience); !slices.ContainsFunc(told.heard(), func(s string) bool {
				return strings.HasPrefix(s, "fault offline: ") && strings.Contains(s, "Too Much of Something")
			}); pause() {
				if time.Now().After(late) {
					t.Fatal("no fault with the server's reason")
				}
			}
			c.Reconnect()
		case err := <-result:
			t.Fatalf("Run returned %v", err)
		case <-time.After(patience):
			t.Fatal("did not connect again")
		}
	}
	conn := <-accepted
	defer conn.Close()
	welcome(conn)
	for !c.latest().online {
		pause()
	}
	ended.Opts.DisconnectedErrCB(ended, nil)
	if !c.latest().online {
		t.Error("late news of an ended connection counts for the next one")
	}
	c.Stop()
	if err := ends(t, result); err != nil {
		t.Error(err)
	}
}

// If servers end connections at once, the pauses grow. After a connection that lasted for hours,
// the count starts again.
func TestConnectionsEndInARow(t *testing.T) {
	n := 0
	for i, tt := range []struct {
		lasted time.Duration
		want   int
	}{{time.Second, 1}, {time.Minute, 2}, {0, 3}, {3 * time.Hour, 1}, {time.Second, 2}} {
		if n = inARow(n, tt.lasted); n != tt.want {
			t.Errorf("connection %d, of %v: %d in a row, want %d", i, tt.lasted, n, tt.want)
		}
	}
}

// A rest between two connections ends when hangUp is called.
func TestDialerRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dialer{ctx: t.Context()}
		began := time.Now()
		d.rest(time.Minute)
		if rested := time.Since(began); rested != time.Minute {
			t.Errorf("rested %v, want a minute", rested)
		}
		began = time.Now()
		time.AfterFunc(time.Second, d.hangUp)
		d.rest(time.Minute)
		if rested := time.Since(began); rested != time.Second {
			t.Errorf("rested %v, want the second until it was hung up", rested)
		}
	})
}
