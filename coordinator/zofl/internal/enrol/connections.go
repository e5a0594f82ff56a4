package enrol

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
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
// the subject of what it hears.
func (d *Dir) Observer() (opts []nats.Option, subject string, err error) {
	account, err := d.account.PublicKey()
	if err != nil {
		return nil, "", err
	}
	p := &jwt.Permissions{}
	p.Sub.Allow.Add(events(account))
	p.Pub.Deny.Add(">")
	opts, err = d.systemUser("zofl serve", p)
	return opts, events(account), err
}

// LimitConnections closes the oldest connection of a device or witness that opens more than two. It
// hears of connections over nc, which has the options of [Dir.Observer], and closes one with
// hangUp. The logger names the user, at most once a minute.
func LimitConnections(nc *nats.Conn, subject string, hangUp func(id uint64) error,
	logger *slog.Logger) error {
	c := &connections{open: map[string][]uint64{}, closed: map[string]*closings{}, hangUp: hangUp,
		logger: logger}
	if _, err := nc.Subscribe(subject, c.heard); err != nil {
		return err
	}
	return nc.Flush()
}

// connections are those of devices and witnesses. Only the goroutine of a subscription uses them.
type connections struct {
	open   map[string][]uint64  // by public key: the oldest first
	closed map[string]*closings // by public key
	hangUp func(id uint64) error
	logger *slog.Logger
}

// closings counts the connections of a user that were closed since the last report.
type closings struct {
	n        int
	reported time.Time
}

// heard handles an event of the broker.
func (c *connections) heard(m *nats.Msg) {
	var event server.ConnectEventMsg
	if err := json.Unmarshal(m.Data, &event); err != nil {
		return
	}
	switch {
	case strings.HasSuffix(m.Subject, ".DISCONNECT"):
		c.left(event.Client)
	case strings.HasSuffix(m.Subject, ".CONNECT"):
		c.came(event.Client)
	}
}

func (c *connections) left(client server.ClientInfo) {
	open := slices.DeleteFunc(c.open[client.User], func(id uint64) bool { return id == client.ID })
	if c.open[client.User] = open; len(open) == 0 {
		delete(c.open, client.User)
	}
}

func (c *connections) came(client server.ClientInfo) {
	user, err := jwt.DecodeUserClaims(client.Jwt)
	if err != nil || !user.Tags.Contains(limited) {
		return
	}
	open := append(c.open[client.User], client.ID)
	for ; len(open) > mostConnections; open = open[1:] {
		if c.hangUp(open[0]) == nil {
			c.report(client.User, user.Name)
		}
	}
	c.open[client.User] = slices.Clone(open)
}

func (c *connections) report(key, name string) {
	seen := c.closed[key]
	if seen == nil {
		seen = &closings{}
		c.closed[key] = seen
	}
	seen.n++
	if time.Since(seen.reported) < reportEvery {
		return
	}
	c.logger.Warn("a user has more than two connections: the oldest is closed. Do two programs use "+
		"its credentials? zofl device revoke takes them back", "id", name, "closed", seen.n)
	*seen = closings{reported: time.Now()}
}
