package main

import (
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// TestSiegeOfAServer attacks a nats-server with the limits and permissions that `zofl permissions`
// prints, in each way that has stopped one.
func TestSiegeOfAServer(t *testing.T) {
	for way, most := range map[string]uint32{"conf": 256, "jwt": 32} {
		t.Run(way, func(t *testing.T) {
			g := newGuarded(t, way, false, theRoles...)
			g.subscribeAlot(most)
			g.crowd(way)
			if !testing.Short() { // the server closes them after 2 s
				g.strangers()
			}
		})
	}
}

// subscribeAlot subscribes more than a device may, over ten connections, and reads nothing.
func (g *guarded) subscribeAlot(most uint32) {
	g.t.Helper()
	before := g.server.NumSubscriptions()
	for range 10 {
		nc := g.connect("pi")
		var refused sync.WaitGroup
		refused.Add(1)
		once := sync.OnceFunc(refused.Done)
		nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
				once()
			}
		})
		unread := make(chan *nats.Msg)
		for range times(300, 20_000) {
			if _, err := nc.ChanSubscribe("zo.kitchen.a.*", unread); err != nil {
				break
			}
		}
		refused.Wait()
	}
	const own = 16 // of the server
	if more := g.server.NumSubscriptions() - before; more > 10*most+own {
		g.t.Errorf("%d subscriptions of ten connections, want %d each at most", more, most)
	}
}

// crowd opens connections as one user until the server takes no more: 336 of all users where the
// configuration limits the server, 80 where a JWT limits the account.
func (g *guarded) crowd(way string) {
	g.t.Helper()
	most := map[string]int{"conf": 336, "jwt": 80}[way]
	var crowd []*nats.Conn
	for range most + 10 {
		login := g.login["pi"]
		opts := []nats.Option{nats.NoReconnect()}
		if login[0] == "--creds" {
			opts = append(opts, nats.UserCredentials(login[1]))
		}
		nc, err := nats.Connect(login[len(login)-1], opts...)
		if err == nil {
			crowd = append(crowd, nc)
		}
	}
	// A connection that the server refuses counts until it is closed.
	for late := time.Now().Add(await.Patience); g.server.NumClients() > most; {
		if time.Now().After(late) {
			g.t.Fatalf("%d connections, want %d at most", g.server.NumClients(), most)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, nc := range crowd {
		nc.Close()
	}
}

// strangers open connections and say nothing. A command still comes in, as soon as the server has
// closed them.
func (g *guarded) strangers() {
	g.t.Helper()
	for range 3000 {
		nc, err := net.Dial("tcp", strings.TrimPrefix(g.url, "nats://"))
		if err != nil {
			g.t.Fatal(err)
		}
		defer nc.Close()
	}
	for began := time.Now(); ; {
		out, err := zofl(g.t, append([]string{"status", "--run", "kitchen"}, g.login["operator"]...)...)
		if err != nil && strings.Contains(err.Error(), "no coordinator") {
			break // the broker let the command in
		}
		if time.Since(began) > patience {
			g.t.Fatalf("status: %v: %s", err, out)
		}
	}
}

// times returns how often to do something: fewer times in short tests.
func times(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}
