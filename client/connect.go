package client

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// How a device on a bad network keeps its connection.
const (
	connectTimeout = 20 * time.Second // TCP, TLS and NATS's handshake on a slow radio
	pingInterval   = 4 * time.Minute  // each ping wakes the radio
	pingsLost      = 2                // then the connection is taken for dead
	reconnectMin   = time.Second
	reconnectMax   = 5 * time.Minute
	// reconnectFirst bounds the first pause: when a server dies, its devices
	// come back within so long, and not at once. 5,000 of them were 116 in the
	// busiest tenth of a second with pauses of 1 to 6 s, and 1,388 with the 2 to
	// 2.1 s that are NATS's default.
	reconnectFirst = 6 * time.Second
)

// ConnectOptions returns what [nats.Connect] needs for a device on a bad or
// mobile network; put the app's own options, such as credentials, after them:
//
//	nc, err := nats.Connect(url, append(client.ConnectOptions(id), nats.UserCredentials(file))...)
//
// The connection is tried again for ever, also where the first attempt fails
// or the server refuses the user, after pauses between 1 s and a bound that
// doubles from 6 s to 5 min, drawn anew each time. Nothing is buffered while it is down: a reply that
// is late is worth nothing, and the next announcement asks for it again. A
// connection is taken for dead after 8 to 12 minutes of silence; an app that
// learns earlier that the network changed or the device woke up calls
// ForceReconnect.
//
// A server names others of its cluster to try, in a greeting that comes before TLS.
// Where any certificate of the system's roots is believed, whoever is on the way could
// name one of his own: list all servers and add [nats.IgnoreDiscoveredServers].
//
// Answers come to _INBOX_<id>: permissions that let a device subscribe that,
// and the announcements, keep it from hearing others'.
func ConnectOptions(id string) []nats.Option {
	b := &backoff{random: newRandom(id)}
	return []nats.Option{
		nats.Name(id),
		nats.CustomInboxPrefix("_INBOX_" + id),
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

// A backoff draws the pauses between attempts to connect: each evenly between
// reconnectMin and a bound that starts at reconnectFirst and doubles up to
// reconnectMax. Drawn anew from the whole of that, they keep devices that were
// cut off together from coming back together, in later attempts too.
type backoff struct {
	mu     sync.Mutex // guards random
	random *rand.Rand
}

// delay returns the pause before an attempt, from 1 for the first since the
// connection was lost.
func (b *backoff) delay(attempt int) time.Duration {
	most := reconnectMax
	if doublings := max(attempt, 1) - 1; doublings < 8 {
		most = min(reconnectFirst<<doublings, reconnectMax)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return reconnectMin + time.Duration(b.random.Int64N(int64(most-reconnectMin)+1))
}

// newRandom returns a generator for what devices must not do in step: of its
// own for each id, and the same again under the same clock, so that a
// simulation repeats.
func newRandom(id string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(id))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(time.Now().UnixNano())))
}
