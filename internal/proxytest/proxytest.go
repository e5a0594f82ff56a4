// Package proxytest has proxies for tests. Each connects to one server, whatever it is asked for,
// so that the test may name a server that does not exist.
package proxytest

import (
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// Listen calls serve for each connection to an address on this machine, which it returns.
func Listen(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// HTTP is the handler of an HTTP proxy.
type HTTP struct {
	To    string      // address of the server
	Login string      // USER:PASSWORD; "": everybody may connect
	Asked chan string // gets each request: its method and the address
}

// ServeHTTP connects a client with the server.
func (p *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.Login)); p.Login != "" &&
		r.Header.Get("Proxy-Authorization") != want {
		w.Header().Set("Proxy-Authenticate", `Basic realm="office"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	p.Asked <- r.Method + " " + r.Host
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	join(conn, p.To, "HTTP/1.1 200 Connection established\r\nVia: office\r\n\r\n")
}

// join connects a client with a server, and says so first.
func join(conn net.Conn, to, says string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	_, _ = io.WriteString(conn, says)
	go func() { _, _ = io.Copy(server, conn); server.Close() }()
	_, _ = io.Copy(conn, server)
}

// SOCKS is a SOCKS 5 proxy.
type SOCKS struct {
	To    string      // address of the server
	Login string      // USER:PASSWORD; "": everybody may connect
	Code  byte        // what it answers to requests; 0: it connects
	Asked chan string // gets the address of each request
}

// Serve serves a client.
func (p *SOCKS) Serve(conn net.Conn) {
	read := func(n byte) string {
		b := make([]byte, n)
		_, _ = io.ReadFull(conn, b)
		return string(b)
	}
	write := func(b ...byte) { _, _ = conn.Write(b) }
	one := func() byte { return read(1)[0] }
	one()
	methods := read(one())
	switch {
	case p.Login == "":
		write(5, 0)
	case !strings.Contains(methods, "\x02"):
		write(5, 0xff)
		return
	default:
		write(5, 2)
		one()
		login := read(one())
		if login += ":" + read(one()); login != p.Login {
			write(1, 1)
			return
		}
		write(1, 0)
	}
	read(3)
	host := ""
	switch one() {
	case 1:
		host = net.IP(read(4)).String()
	case 4:
		host = net.IP(read(16)).String()
	case 3:
		host = read(one())
	}
	port := binary.BigEndian.Uint16([]byte(read(2)))
	if p.Code != 0 {
		write(5, p.Code, 0, 1, 0, 0, 0, 0, 0, 0)
		return
	}
	p.Asked <- net.JoinHostPort(host, strconv.Itoa(int(port)))
	// The bound address is a name: a client must skip it whatever its kind is.
	join(conn, p.To, "\x05\x00\x00\x03\x05bound\x00\x00")
}
