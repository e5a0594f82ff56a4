package grant

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/jwt/v2"

	"github.com/zofl/zofl/wire"
)

// The limits of a broker. Without them one user could take the memory or the connections of all.
const (
	// coordinatorSubscriptions is for a connection of a coordinator, which has below 32. No role has
	// more.
	coordinatorSubscriptions = 256
	// subscriptions is for a connection of any other role, which has below 8.
	subscriptions = 32
	// pending is how many bytes the broker keeps for a connection that does not read. A busy
	// coordinator has up to a piece of a vector, 64 KiB, from each device of a dense run.
	pending = 16 << 20
	// Others is how many connections the account of a run may have besides those of its devices.
	Others = 64
	// strangers is the room of a server of one's own for connections that have not logged in.
	strangers = 256
)

// LimitsOf returns what the broker gives a connection of a role.
func LimitsOf(role Role) jwt.NatsLimits {
	l := jwt.NatsLimits{Subs: subscriptions, Data: jwt.NoLimit, Payload: wire.MaxFrame}
	if role == Coordinator {
		l.Subs = coordinatorSubscriptions
	}
	return l
}

// LimitAccount sets the limits of an account whose run has so many devices. A device has one
// connection, and the broker may take the one before it for alive for minutes.
func LimitAccount(l *jwt.OperatorLimits, devices int) {
	l.NatsLimits = LimitsOf(Coordinator)
	l.Conn = int64(4*devices + Others)
}

// ServerLimits returns the limits of each connection in the syntax of a nats-server's
// configuration.
func ServerLimits() string {
	return fmt.Sprintf("max_payload: %d\nmax_subscriptions: %d\nmax_pending: %d\n", wire.MaxFrame,
		coordinatorSubscriptions, pending)
}

// LimitsConf returns the limits of a nats-server whose run has so many devices, in the syntax of
// its configuration.
func LimitsConf(devices int) string {
	var l jwt.OperatorLimits
	LimitAccount(&l, devices)
	return fmt.Sprintf("max_connections: %d\n", l.Conn+strangers) + ServerLimits()
}

// LimitsJWT returns the limits of an account whose run has so many devices, in the JSON form that
// its JWT has below "nats".
func LimitsJWT(devices int) (string, error) {
	var all jwt.OperatorLimits
	LimitAccount(&all, devices)
	text, err := json.MarshalIndent(map[string]any{"limits": struct {
		Conn int64 `json:"conn"`
		jwt.NatsLimits
	}{all.Conn, all.NatsLimits}}, "", "  ")
	return string(text) + "\n", err
}
