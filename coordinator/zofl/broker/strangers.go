package broker

import (
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	// mostClients is how many connections a broker takes where the system allows any number.
	mostClients = 64 << 10
	// fewestClients is how many a broker takes where the system allows hardly any.
	fewestClients = 16
	// spareDescriptors bounds how many descriptors a process keeps for its log, its pages, and
	// connections that its broker is turning away.
	spareDescriptors = 512
	// mostStrangers bounds the connections that have not logged in: each takes some 20 KiB.
	mostStrangers = 4096
)

// MaxConnections returns how many connections a broker in this process may take, so that a quarter
// of the process's descriptors, or 512, are left for other things.
func MaxConnections() int { return connectionsWithin(descriptors()) }

func connectionsWithin(descriptors uint64) int {
	if descriptors == 0 {
		return mostClients
	}
	spare := min(descriptors/4, spareDescriptors)
	return int(min(max(descriptors-spare, fewestClients), mostClients))
}

const (
	// lookEvery is how often a broker looks for strangers.
	lookEvery = 50 * time.Millisecond
	// loginWithin is how long a stranger may stay while there are many.
	loginWithin = time.Second
)

// limitStrangers closes connections that have not logged in within a second, while there are more
// than 4,096 strangers, or they hold more than half of the connections that the server has left.
// Above three quarters it closes the oldest at once. The server checks its limit of connections
// before anybody logs in, so strangers who say nothing would keep everybody out. The caller calls
// stop.
func (b *Broker) limitStrangers() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		known := 0 // clients that had logged in, at the last look at all
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			n := b.server.NumClients()
			if known = min(known, n); n-known > b.roomBeside(known) {
				known = b.closeStrangers()
			}
		}
	}()
	return func() { close(done); <-ended }
}

// roomBeside returns how many strangers there may be beside the clients that have logged in.
func (b *Broker) roomBeside(known int) int { return min(max(b.most-known, 0)/2, mostStrangers) }

// closeStrangers closes old strangers if there are too many, and returns how many clients have
// logged in.
func (b *Broker) closeStrangers() (known int) {
	list, err := b.server.Connz(&server.ConnzOptions{Username: true, Limit: 2 * mostClients})
	if err != nil {
		return 0
	}
	strangers := list.Conns[:0]
	for _, c := range list.Conns {
		if c.Account == "" && c.AuthorizedUser == "" {
			strangers = append(strangers, c)
		} else {
			known++
		}
	}
	if len(strangers) <= b.roomBeside(known) {
		return known
	}
	soon := len(strangers) - b.roomBeside(known)*3/2
	for i, c := range strangers { // the oldest first
		if i < soon || list.Now.Sub(c.Start) > loginWithin {
			_ = b.HangUp(c.Cid) // an error means that it is gone
		}
	}
	return known
}
