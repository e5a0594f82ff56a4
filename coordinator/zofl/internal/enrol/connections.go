package enrol

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// mostConnections is how many connections a device or witness may have: one, and the one before it,
// which the broker may take for alive for minutes.
const mostConnections = 2

// limited is the tag in the JWT of users whose connections are counted.
const limited = "limited"

// reportEvery is the shortest time between two reports of one user.
const reportEvery = time.Minute

// events is the subject of the broker's events of an account.
func events(account string) string { return "$SYS.ACCOUNT." + account + ".*" }

// Observer returns the options of a connection that may only hear who connects to the broker, and
// the account of the users of whom it hears.
func (d *Dir) Observer() (opts []nats.Option, account string, err error) {
	if account, err = d.account.PublicKey(); err != nil {
		return nil, "", err
	}
	p := &jwt.Permissions{}
	p.Sub.Allow.Add(events(account))
	p.Pub.Deny.Add(">")
	opts, err = d.systemUser("zofl serve", p)
	return opts, account, err
}

// A Broker is what a guard does to the connections of a broker.
type Broker interface {
	// HangUp closes a connection.
	HangUp(id uint64) error
	// Bar lets users of an account in no more, until the next call.
	Bar(account string, users []string) error
}

// A Guard closes connections of devices and witnesses that ask too much of the broker: the oldest
// of more than two, and all of a banned user. Any goroutine may call its methods.
type Guard struct {
	broker  Broker
	account string
	logger  *slog.Logger

	mu     sync.Mutex
	users  map[string]*user // by public key
	barred time.Time        // when the broker was last told whom to let in no more
}

// A user is a device or witness that has been connected.
type user struct {
	name     string
	open     []uint64  // connections: the oldest first
	closed   int       // connections, since the last report
	reported time.Time // when the closed ones were
	ban
}

// NewGuard returns a guard of the users of an account. The logger names the users whose connections
// it closes.
func NewGuard(b Broker, account string, logger *slog.Logger) *Guard {
	return &Guard{broker: b, account: account, logger: logger, users: map[string]*user{}}
}

// Watch hears of connections over nc, which has the options of [Dir.Observer].
func (g *Guard) Watch(nc *nats.Conn) error {
	if _, err := nc.Subscribe(events(g.account), g.heard); err != nil {
		return err
	}
	return nc.Flush()
}

// heard handles an event of the broker.
func (g *Guard) heard(m *nats.Msg) {
	var event server.ConnectEventMsg
	if err := json.Unmarshal(m.Data, &event); err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case strings.HasSuffix(m.Subject, ".DISCONNECT"):
		if u := g.users[event.Client.User]; u != nil {
			u.open = slices.DeleteFunc(u.open, func(id uint64) bool { return id == event.Client.ID })
		}
	case strings.HasSuffix(m.Subject, ".CONNECT"):
		g.came(event.Client, time.Now())
	}
}

func (g *Guard) came(client server.ClientInfo, now time.Time) {
	u := g.users[client.User]
	if u == nil {
		claims, err := jwt.DecodeUserClaims(client.Jwt)
		if err != nil || !claims.Tags.Contains(limited) {
			return
		}
		u = &user{name: claims.Name}
		for _, before := range g.users { // under earlier credentials, which count already
			if before.name == u.name {
				u.total = max(u.total, before.total)
			}
		}
		g.users[client.User] = u
	}
	if now.Before(u.until) {
		_ = g.broker.HangUp(client.ID)    // an error means that it is gone
		if now.Sub(g.barred) > barEvery { // the broker got the account anew, and forgot
			g.bar(now)
		}
		return
	}
	u.open = append(u.open, client.ID)
	for ; len(u.open) > mostConnections; u.open = u.open[1:] {
		if g.broker.HangUp(u.open[0]) == nil {
			g.report(u, now)
			g.charge(u, closingCost, now)
		}
	}
	u.open = slices.Clone(u.open)
}

func (g *Guard) report(u *user, now time.Time) {
	u.closed++
	if now.Sub(u.reported) < reportEvery {
		return
	}
	g.logger.Warn("a user has more than two connections: the oldest is closed. Do two programs use "+
		"its credentials? zofl device revoke takes them back", "id", u.name, "closed", u.closed)
	u.closed, u.reported = 0, now
}
