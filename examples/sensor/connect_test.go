package main

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// advertise greets one connection as a broker that names another broker, and answers its
// pings.
func advertise(l net.Listener, other string) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprintf(c, `INFO {"server_id":"x","version":"2.12.0","proto":1,"max_payload":65536,`+
		`"connect_urls":[%q]}`+"\r\n", other)
	for lines := bufio.NewScanner(c); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "PING") {
			fmt.Fprint(c, "PONG\r\n")
		}
	}
}

// A greeting comes before TLS, so an attacker in the middle can write it. The agent uses
// only the brokers of the configuration.
func TestConnectToNoOther(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go advertise(l, "broker.example.com:4222")
	nc, err := connect(&config.Config{URL: "nats://" + l.Addr().String(), ID: "a"},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if !nc.IsConnected() {
		t.Fatalf("not connected: %v", nc.LastError())
	}
	if others := nc.DiscoveredServers(); len(others) > 0 {
		t.Errorf("also uses %q, which only the greeting names", others)
	}
}
