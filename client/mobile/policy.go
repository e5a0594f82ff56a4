package mobile

import (
	"fmt"
	"sync"
)

// A policy says whether the device may work, by what the Config asks and what the app
// said of the device since.
type policy struct {
	unmeteredOnly, chargingOnly bool
	minBattery                  int // percent, 0: any

	mu      sync.Mutex // guards what follows
	network network
	power   power
}

// What the app said of the device; known is false until it did.
type (
	network struct{ known, connected, metered bool }
	power   struct {
		known, charging bool
		percent         int // of a full battery, negative: unknown
	}
)

// blocked returns why the device may not work now, "" where it may. What was asked
// for and is not known does not hold.
func (p *policy) blocked() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch n, w := p.network, p.power; {
	case p.unmeteredOnly && !n.known:
		return "UnmeteredOnly is set and the network is not known: call SetNetwork"
	case p.unmeteredOnly && n.metered:
		return "UnmeteredOnly is set and the network is metered"
	case p.chargingOnly && !w.known:
		return "ChargingOnly is set and the power is not known: call SetPower"
	case p.chargingOnly && !w.charging:
		return "ChargingOnly is set and the device is not charging"
	case p.minBattery > 0 && (!w.known || w.percent < 0 && !w.charging):
		return fmt.Sprintf("MinBattery = %d and the charge is not known: call SetPower", p.minBattery)
	case !w.charging && w.percent < p.minBattery && p.minBattery > 0:
		return fmt.Sprintf("MinBattery = %d and the battery has %d percent", p.minBattery, w.percent)
	}
	return ""
}

// setNetwork says whether the device may have another network than before.
func (p *policy) setNetwork(connected, metered bool) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, now := p.network, network{true, connected, metered}
	p.network = now
	return before.known && before != now && connected
}

func (p *policy) setPower(charging bool, percent int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.power = power{true, charging, percent}
}
