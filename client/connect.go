package client

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client/internal/link"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/internal/subjects"
)

// These values keep the connection of a device on a bad network.
const (
	connectTimeout = 20 * time.Second // TCP, TLS and NATS's handshake on a slow radio
	pingInterval   = 4 * time.Minute  // each ping wakes the radio
	pingsLost      = 2                // after so many lost pings the connection counts as dead
	reconnectMin   = time.Second
	reconnectMax   = link.LongestPause
	// reconnectFirst bounds the first pause before a device reconnects. When a server dies, its
	// devices return within this time, spread over all of it. Of 5,000 devices, 116 returned in the
	// busiest tenth of a second with pauses of 1 to 6 s. With pauses of 2 to 2.1 s, the default of
	// NATS, 1,388 of them returned in the busiest tenth.
	reconnectFirst = 6 * time.Second
	// reconnectSteady is the number of attempts before the pauses grow. A server restarts in that
	// time, and then its devices return within reconnectFirst.
	reconnectSteady = 8
)

// ConnectOptions returns options of [nats.Connect] for a device on a bad or mobile network. Add the
// app's own options, such as credentials, after these:
//
//	nc, err := nats.Connect(url, append(client.ConnectOptions(id), nats.UserCredentials(file))...)
//
// NATS retries the connection for ever, also if the first attempt fails or the server refuses the
// user. ConnectOptions draws each pause between 1 s and a bound: 6 s for eight attempts, and then
// twice as much for each attempt, up to 5 min. NATS keeps no messages while the connection is
// down, because a late reply is worthless: the next announcement asks for the reply again. NATS
// gives up a silent connection after 8 to 12 minutes. A running client gives it up within three of
// the plan's Reannounce, see [Config].Conn. If your app learns earlier that the network changed or
// the device woke up, call [nats.Conn.ForceReconnect].
//
// Package [github.com/zofl/zofl/client/proxy] has an option for networks with a proxy.
//
// Before TLS begins, a server sends a list of the other servers of its cluster. So if the client
// trusts every root certificate of the system, an attacker between client and server can add a
// server of his own. To prevent that, list all servers yourself and add
// [nats.IgnoreDiscoveredServers].
//
// Answers to a device come on the subject _INBOX_<id>. Give each device permission to subscribe
// only to its own inbox and to announcements: then it cannot read the answers to other devices.
func ConnectOptions(id string) []nats.Option {
	b := &redial{random: retry.NewRandom(id)}
	return []nats.Option{
		nats.Name(id),
		nats.CustomInboxPrefix(subjects.Inbox(id)),
		nats.Timeout(connectTimeout),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(b.delay),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(pingsLost),
	}
}

// A redial draws the pauses between attempts to connect. The pauses are uniform between
// reconnectMin and a bound. The bound is reconnectFirst for reconnectSteady attempts, and then
// doubles up to reconnectMax. A redial draws each pause from the whole range, so that devices that
// lost the connection together do not return together.
type redial struct {
	mu     sync.Mutex // guards random
	random *rand.Rand
}

// delay returns the pause before an attempt. Attempts count from 1 since the device lost the
// connection.
func (b *redial) delay(attempt int) time.Duration {
	most := reconnectMax
	if doublings := max(attempt-reconnectSteady, 0); doublings < 8 {
		most = min(reconnectFirst<<doublings, reconnectMax)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return reconnectMin + time.Duration(b.random.Int64N(int64(most-reconnectMin)+1))
}
