package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

const testPage = "http://127.0.0.1:8080"

// from is what a browser says of the page that connects.
func from(origin string) nats.Option {
	return nats.WebSocketConnectionHeaders(http.Header{"Origin": {origin}})
}

// TestServeWebSocket: devices over WebSocket and over TCP train in one run. The broker refuses a
// page of an origin that --origin does not name.
func TestServeWebSocket(t *testing.T) {
	address := freeport.Address(t)
	k := newKitchen(t, "--websocket", address, "--origin", "http://a.example", "--origin", testPage)
	k.device("a")
	tcp := k.url
	k.url = "ws://" + address
	k.device("b")
	s := k.reach(8)
	if s.Present != 2 {
		t.Errorf("%d devices are present, want 2", s.Present)
	}
	k.url = tcp
	nc, err := nats.Connect("ws://"+address, from(testPage))
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	if nc, err := nats.Connect("ws://"+address, from("http://127.0.0.1:8081")); err == nil {
		nc.Close()
		t.Error("a page that was not named got in")
	}
	taken := []string{"serve", k.plan, "--store", filepath.Join(k.dir, "other"), "--listen",
		freeport.Address(t), "--websocket", address, "--origin", testPage}
	if _, err := zofl(t, taken...); err == nil || !strings.Contains(err.Error(), "--websocket") {
		t.Errorf("a taken address gives %v, want --websocket named", err)
	}
}

// TestServeWebSocketEnrolled: with users, a browser needs TLS and a user, as all do.
func TestServeWebSocketEnrolled(t *testing.T) {
	address := freeport.Address(t)
	k := newEnrolled(t, "--websocket", address, "--origin", testPage)
	k.member("a", k.add("a", "device"))
	login := k.add("b", "device")
	creds := login[3]
	login[1] = "wss://" + address
	k.member("b", login)
	if s := k.recordsReach(k.add("alice", "operator"), 8); s.Present != 2 {
		t.Errorf("%d devices are present, want 2", s.Present)
	}
	for name, c := range map[string]struct {
		origin string
		opts   []nats.Option
		may    bool
	}{
		"user":             {testPage, []nats.Option{nats.UserCredentials(creds)}, true},
		"user, other page": {"https://127.0.0.1:8080", []nats.Option{nats.UserCredentials(creds)}, false},
		"nobody":           {testPage, nil, false},
	} {
		opts := append(c.opts, nats.RootCAs(creds), from(c.origin))
		nc, err := nats.Connect("wss://"+address, opts...)
		if (err == nil) != c.may {
			t.Errorf("%s: %v, want a connection: %v", name, err, c.may)
		}
		if err == nil {
			nc.Close()
		}
	}
}

// TestServeWebSocketRefuses: serve refuses flags with which anybody, or nobody, could connect.
func TestServeWebSocketRefuses(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	if _, err := zofl(t, "plan", "--run", "r", "--dim", "7", "--write", plan); err != nil {
		t.Fatal(err)
	}
	guarded := []string{"--tls", "--auth", filepath.Join(dir, "auth")}
	for i, c := range []struct{ args, want []string }{
		{[]string{"--websocket", "127.0.0.1:4223"}, []string{"--websocket 127.0.0.1:4223", "--origin"}},
		{[]string{"--origin", testPage}, []string{"--origin", "--websocket"}},
		{[]string{"--websocket", "0.0.0.0:4223", "--origin", testPage},
			[]string{"--websocket 0.0.0.0:4223", "--tls", "--auth", "loopback"}},
		{[]string{"--websocket", "4223", "--origin", testPage}, []string{"--websocket 4223"}},
		{[]string{"--websocket", "127.0.0.1:99999", "--origin", testPage},
			[]string{"--websocket", "99999", "65535"}},
		{[]string{"--websocket", "127.0.0.1:4222", "--origin", testPage},
			[]string{"--websocket 127.0.0.1:4222", "--listen"}},
		{append([]string{"--websocket", "0.0.0.0:0", "--origin", testPage}, guarded...),
			[]string{"--websocket 0.0.0.0:0", "--auth", "65535"}},
		{[]string{"--websocket", "127.0.0.1:0", "--origin", "127.0.0.1:8080"},
			[]string{"--origin 127.0.0.1:8080", "http://"}},
		{[]string{"--websocket", "127.0.0.1:0", "--origin", testPage, "--origin", testPage + "/x"},
			[]string{"--origin " + testPage + "/x"}},
		{[]string{"--websocket", "127.0.0.1:0", "--origin", "*"}, []string{"--origin *"}},
		{[]string{"--websocket", "127.0.0.1:0", "--origin", "ws://a"}, []string{"--origin ws://a"}},
	} {
		_, err := zofl(t, append([]string{"serve", plan, "--store", dir}, c.args...)...)
		t.Run(fmt.Sprint(i), func(t *testing.T) { refused(t, err, c.want) })
	}
}
