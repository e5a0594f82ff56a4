package broker

import (
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

const page = "http://127.0.0.1:8080"

// from returns the option that sends the header Origin, as a browser does for a page.
func from(origin string) nats.Option {
	return nats.WebSocketConnectionHeaders(http.Header{"Origin": {origin}})
}

// A page of an allowed origin and a program connect over WebSocket, and receive messages from
// clients of the TCP port. The broker refuses pages of other origins.
func TestWebSocket(t *testing.T) {
	b := run(t, Config{WebSocket: "127.0.0.1:0", Origins: []string{page, "https://example.org"}})
	other, _ := dial(t, b, "other")
	sub, err := other.SubscribeSync("a")
	if err != nil {
		t.Fatal(err)
	}
	flush(t, other)
	for name, opts := range map[string][]nats.Option{
		"page": {from(page)}, "page of the second origin": {from("https://example.org")},
		"program": nil,
	} {
		nc, err := nats.Connect(b.WebSocketURL(), opts...)
		if err != nil {
			t.Errorf("%s at %s: %v", name, b.WebSocketURL(), err)
			continue
		}
		if err := nc.Publish("a", []byte(name)); err != nil {
			t.Error(err)
		}
		if m, err := sub.NextMsg(patience); err != nil || string(m.Data) != name {
			t.Errorf("%s was not heard: %v", name, err)
		}
		nc.Close()
	}
	for _, origin := range []string{"http://127.0.0.1:8081", "https://127.0.0.1:8080",
		"http://example.org", "http://127.0.0.1.example.org:8080", "null", b.WebSocketURL(),
		strings.Replace(b.WebSocketURL(), "ws://", "http://", 1)} {
		if nc, err := nats.Connect(b.WebSocketURL(), from(origin)); err == nil {
			nc.Close()
			t.Errorf("a page of %s got in", origin)
		}
	}
}

// With TLS, the WebSocket has TLS too.
func TestWebSocketTLS(t *testing.T) {
	a, own := secured(t)
	b := run(t, Config{TLS: own, WebSocket: "127.0.0.1:0", Origins: []string{page}})
	if !strings.HasPrefix(b.WebSocketURL(), "wss://") {
		t.Errorf("URL is %s, want wss://", b.WebSocketURL())
	}
	nc, err := nats.Connect(b.WebSocketURL(), a.Trust(), from(page))
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	clear := strings.Replace(b.WebSocketURL(), "wss://", "ws://", 1)
	if nc, err := nats.Connect(clear, from(page)); err == nil {
		nc.Close()
		t.Error("the WebSocket takes connections in the clear")
	}
}

// If the port is taken, Run fails at once and names the port.
func TestWebSocketTaken(t *testing.T) {
	address := freeport.Address(t)
	first := run(t, Config{Listen: address})
	for _, listen := range []string{"", address} {
		b, err := Run(Config{Listen: listen, WebSocket: address, Origins: []string{page}})
		if err == nil {
			b.Shutdown()
		}
		if !errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, ErrWebSocket) != (listen == "") {
			t.Errorf("beside %q: %v, want it to say that the address is taken", listen, err)
		}
	}
	first.Shutdown()
	b, err := Run(Config{Listen: address, WebSocket: address, Origins: []string{page}})
	if err == nil {
		b.Shutdown()
	}
	if !errors.Is(err, ErrWebSocket) {
		t.Errorf("one address for both: %v", err)
	}
	if got := run(t, Config{}).WebSocketURL(); got != "" {
		t.Errorf("without a WebSocket its URL is %q", got)
	}
}
