package broker

import (
	"sort"
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

// lookEvery is how often a broker looks for strangers. In that time, thousands of connections may
// come.
const lookEvery = 25 * time.Millisecond

// limitStrangers closes connections that have not logged in, whenever they are more than 4,096 or
// hold more than half of the connections that the server has left. The server checks its limit of
// connections before anybody logs in, so strangers who say nothing would keep everybody out. Of the
// address with the most strangers the oldest are closed first: who logs in at once stays. The caller
// calls stop.
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
			if known = min(known, n); n-known > roomOf(b.most-known) {
				known = n - b.closeStrangers(n)
			}
		}
	}()
	return func() { close(done); <-ended }
}

// roomOf returns how many strangers may have a part of the free connections.
func roomOf(free int) int { return min(max(free, 0)/2, mostStrangers) }

// closeStrangers leaves half of their room to strangers, if they have more than that room.
// closeStrangers returns how many there were.
func (b *Broker) closeStrangers(clients int) (strangers int) {
	list, err := b.server.Connz(&server.ConnzOptions{Username: true, Limit: clients + mostClients})
	if err != nil {
		return 0
	}
	byAddress := map[string][]*server.ConnInfo{}
	for _, c := range list.Conns { // the oldest first
		if c.Account == "" && c.AuthorizedUser == "" && c.IP != "" {
			byAddress[c.IP] = append(byAddress[c.IP], c)
			strangers++
		}
	}
	room := roomOf(b.most - (len(list.Conns) - strangers))
	if strangers <= room {
		return strangers
	}
	left := share(byAddress, room/2)
	for _, all := range byAddress {
		for _, c := range all[:max(len(all)-left, 0)] {
			_ = b.HangUp(c.Cid) // an error means that it is gone
		}
	}
	return strangers
}

// share returns how many of each address may stay, so that at most most stay in all.
func share[T any](byAddress map[string][]T, most int) int {
	largest := 0
	for _, all := range byAddress {
		largest = max(largest, len(all))
	}
	return sort.Search(largest, func(each int) bool {
		stay := 0
		for _, all := range byAddress {
			stay += min(len(all), each+1)
		}
		return stay > most
	})
}
