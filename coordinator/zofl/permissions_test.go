package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// theRoles are a user of each role, of a run without dense transport and JetStream.
var theRoles = []member{
	{"pi", []string{"--role", "device", "--device", "pi"}},
	{"w", []string{"--role", "witness", "--device", "w"}},
	{"coordinator", []string{"--role", "coordinator"}},
	{"operator", []string{"--role", "operator"}},
}

// matrix has all subjects of a run, and some of others, with the users who may publish and
// subscribe them. We wrote the matrix by hand, independently of package grant.
var matrix = []struct{ subject, publish, subscribe string }{
	{"zo.kitchen.a.0", "coordinator", "pi w"},
	{"zo.kitchen.a.z", "coordinator", "pi w"},
	{"zo.kitchen.p.0.pi", "pi", "coordinator"},
	{"zo.kitchen.p.z.pi", "pi", "coordinator"},
	{"zo.kitchen.p.0.w", "w", "coordinator"},
	{"zo.kitchen.p.0.other", "", "coordinator"},
	{"zo.kitchen.j.pi", "pi", "coordinator"},
	{"zo.kitchen.j.w", "w", "coordinator"},
	{"zo.kitchen.j.other", "", "coordinator"},
	{"zo.kitchen.c.pi", "pi", "coordinator"},
	{"zo.kitchen.c.w", "w", "coordinator"},
	{"zo.kitchen.c.zofl", "operator", "coordinator"},
	{"zo.kitchen.c.other", "", "coordinator"},
	{"zo.kitchen.s.pi", "pi", "w"},
	{"zo.kitchen.s.w", "w", "w"},
	{"zo.kitchen.s.other", "", "w"},
	{"zo.kitchen.u.pi", "", ""},
	{"zo.kitchen.k.pi", "", ""},
	{"zo.kitchen.k.*", "", ""},
	{"zo.kitchen.f.pi", "", ""},
	{"zo.kitchen.f.*", "", ""},
	{"zo.kitchen.d.pi", "", ""},
	{"zo.kitchen.d.w", "", ""},
	{"zo.kitchen.d.zofl", "", ""},
	{"zo.kitchen.h", "", ""},
	{"zo.kitchen.m", "", ""},
	{"zo.kitchen.t", "", ""},
	{"zo.kitchen.l", "coordinator", "coordinator"},
	{"zo.kitchen.o.status", "operator", "coordinator"},
	{"zo.kitchen.o.stop", "operator", "coordinator"},
	{"zo.pantry.a.0", "", ""},
	{"zo.pantry.p.0.pi", "", ""},
	{"zo.pantry.o.stop", "", ""},
	{"zo.kitchen", "", ""},
	{"app.orders", "", ""},
	{"_INBOX.x", "", ""},
	{"_INBOX_pi.x.y", "", "pi"},
	{"_INBOX_w.x.y", "", "w"},
	{"_INBOX_other.x.y", "", ""},
	{"_INBOX_zofl.c.kitchen.x.y", "", "coordinator"},
	{"_INBOX_zofl.o.kitchen.x.y", "", "operator"},
	{"_INBOX_zofl.o.pantry.x.y", "", ""},
	{"_INBOX_zofl.x", "", ""},
	{"$SRV.PING", "", "coordinator"},
	{"$SRV.INFO.zofl-kitchen", "", "coordinator"},
	{"$SRV.STATS.zofl-kitchen.x", "", "coordinator"},
	{"$SRV.PING.zofl-pantry", "", ""},
	{"$JS.API.INFO", "", ""},
	{"$KV.ZO_kitchen_LEASE.lease", "", ""},
	{"$SYS.REQ.USER.INFO", "", ""},
	{"$SYS.REQ.CLAIMS.UPDATE", "", ""},
	{"zo.kitchen.a.*", "", "pi w"},
	{"zo.kitchen.p.*.*", "", "coordinator"},
	{"zo.kitchen.j.*", "", "coordinator"},
	{"zo.kitchen.c.*", "", "coordinator"},
	{"zo.kitchen.s.*", "", "w"},
	{"zo.kitchen.o.*", "", "coordinator"},
	{"zo.kitchen.>", "", ""},
	{"zo.>", "", ""},
	{"_INBOX.>", "", ""},
	{"_INBOX_pi.>", "", "pi"},
	{"_INBOX_zofl.>", "", ""},
	{"$SRV.>", "", ""},
	{">", "", ""},
}

// TestPermissionMatrix tries every subject in every role.
func TestPermissionMatrix(t *testing.T) {
	for way := range setUps {
		t.Run(way, func(t *testing.T) {
			g := newGuarded(t, way, false, theRoles...)
			for _, m := range theRoles {
				nc := g.connect(m.name)
				for _, row := range matrix {
					check := func(verb, who string, may bool) {
						if want := strings.Contains(" "+who+" ", " "+m.name+" "); may != want {
							t.Errorf("%s may %s %s: %v, want %v", m.name, verb, row.subject, may, want)
						}
					}
					if !strings.ContainsAny(row.subject, "*>") {
						check("publish", row.publish, mayPublish(t, nc, row.subject))
					}
					check("subscribe", row.subscribe, maySubscribe(t, nc, row.subject))
				}
			}
		})
	}
}

// connect returns a connection of a user.
func (g *guarded) connect(name string) *nats.Conn {
	g.t.Helper()
	var opts []nats.Option
	url := g.login[name][len(g.login[name])-1]
	if g.login[name][0] == "--creds" {
		opts = append(opts, nats.UserCredentials(g.login[name][1]))
	}
	nc, err := nats.Connect(url, append(opts, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription,
		error) {
	}))...)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(nc.Close)
	return nc
}

// mayPublish publishes, and says whether the server let it pass.
func mayPublish(t *testing.T, nc *nats.Conn, subject string) bool {
	t.Helper()
	if err := nc.Publish(subject, nil); err != nil {
		t.Fatal(err)
	}
	return !denies(t, nc, fmt.Sprintf("Publish to %q", subject))
}

// maySubscribe subscribes, and says whether the server let it pass.
func maySubscribe(t *testing.T, nc *nats.Conn, subject string) bool {
	t.Helper()
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	return !denies(t, nc, fmt.Sprintf("Subscription to %q", subject))
}

// denies says whether the last thing that the server refused has a text.
func denies(t *testing.T, nc *nats.Conn, text string) bool {
	t.Helper()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	err := nc.LastError()
	return err != nil && strings.Contains(strings.ToLower(err.Error()), strings.ToLower(text))
}
