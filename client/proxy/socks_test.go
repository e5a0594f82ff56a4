package proxy

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/proxytest"
)

// TestSocks: a SOCKS 5 proxy connects to names and to addresses of both families.
func TestSocks(t *testing.T) {
	p := &proxytest.SOCKS{To: proxytest.Listen(t, greets), Login: "bob:secret",
		Asked: make(chan string, 1)}
	address := proxytest.Listen(t, p.Serve)
	for _, to := range []string{"broker.invalid:443", "192.0.2.7:4222", "[2001:db8::7]:65535"} {
		for _, scheme := range []string{"socks5", "socks5h"} {
			if err := through(t, scheme+"://bob:secret@"+address, to, nil, patience); err != nil {
				t.Error(err)
			} else if asked := <-p.Asked; asked != to {
				t.Errorf("asked for %s, want %s", asked, to)
			}
		}
	}
	anybody := &proxytest.SOCKS{To: p.To, Asked: p.Asked}
	open := proxytest.Listen(t, anybody.Serve)
	err := through(t, "socks5://bob:secret@"+open, "a.invalid:1", nil, patience)
	if err != nil {
		t.Error(err)
	}
}

// TestSocksRefusals: what a SOCKS proxy answers instead of connecting is named, with the remedy.
func TestSocksRefusals(t *testing.T) {
	const to = "broker.invalid:443"
	p := &proxytest.SOCKS{Login: "bob:other"}
	address := proxytest.Listen(t, p.Serve)
	err := through(t, "socks5://"+address, to, nil, patience)
	checkFault(t, err, "socks5://"+address, "wants a user", "HTTPS_PROXY=socks5://USER:PASSWORD@")
	err = through(t, "socks5://bob:secret@"+address, to, nil, patience)
	checkFault(t, err, "socks5://"+address, "the password is wrong: correct HTTPS_PROXY")
	for code, want := range map[byte]string{1: "general failure", 2: "allow broker.invalid:443",
		4: "does not reach broker.invalid:443", 5: "connection refused by the server", 99: "failure 99"} {
		address := proxytest.Listen(t, (&proxytest.SOCKS{Code: code}).Serve)
		err := through(t, "socks5://bob:secret@"+address, to, nil, patience)
		checkFault(t, err, "socks5://"+address, want)
	}
	for _, answer := range []string{"", "\x05", "HTTP/1.1 400 Bad\r\n\r\n", "\x05\x00\x05",
		"\x05\x00\x05\x00\x00\x09", "\x05\x07"} {
		address := proxytest.Listen(t, func(conn net.Conn) {
			conn.Read(make([]byte, 100))
			io.WriteString(conn, answer)
			conn.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, conn)
		})
		err := through(t, "socks5://bob:secret@"+address, to, nil, patience)
		checkFault(t, err, "socks5://"+address, "HTTPS_PROXY")
	}
	err = through(t, "socks5://"+strings.Repeat("u", 256)+":secret@"+address, to, nil, patience)
	checkFault(t, err, "socks5://"+address, "at most 255")
}
