package mobile

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/zofl/zofl/wire/deviceinfo"
)

// A policy decides whether the device may work, from the requirements of the Config and the app's
// last reports about the device.
type policy struct {
	unmeteredOnly, chargingOnly bool
	minBattery                  int // percent; 0: any

	mu      sync.Mutex // guards what follows
	network network
	power   power
}

// The app's last reports about the device; known is false before the first report.
type (
	network struct{ known, connected, metered bool }
	power   struct {
		known, charging bool
		percent         int // of a full battery; negative: unknown
	}
)

// blocked returns the reason why the device may not work now, or "" if the device may work. A
// requirement counts as not met until the app has reported on it.
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

// setNetwork reports whether the device may be on another network than before.
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

// about returns what the device says about itself to the operator. about leaves out what the app
// has not reported.
func (p *policy) about(program string) deviceinfo.Device {
	d := deviceinfo.Device{Program: program, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.power.known {
		d.Battery = uint8(min(max(p.power.percent, 0), 100))
		d.Power = deviceinfo.OnBattery
		if p.power.charging {
			d.Power = deviceinfo.Charging
		}
	}
	if p.network.known && p.network.connected {
		d.Network = deviceinfo.Unmetered
		if p.network.metered {
			d.Network = deviceinfo.Metered
		}
	}
	return d
}
