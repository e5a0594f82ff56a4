// Package notify decides when a device sends its operator the app's description of it.
package notify

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/zofl/zofl/wire/deviceinfo"
)

const (
	// every bounds how often a device that stays in the run sends changes.
	every = time.Minute
	// worth is by how many percent a battery's charge has to differ.
	worth = 5
)

// A Teller is used by one goroutine.
type Teller struct {
	Ask    func() deviceinfo.Device // of the app
	Logger *slog.Logger

	told deviceinfo.Device
	at   time.Time
	mute bool // what the app says cannot be told, which was logged
}

// Append appends the app's present description to the rest of a join request.
func (t *Teller) Append(rest []byte) []byte {
	if t.told, t.at = t.now(), time.Now(); t.told == (deviceinfo.Device{}) {
		return rest
	}
	return t.told.Append(rest)
}

// Due says that there is something new to tell.
func (t *Teller) Due() bool {
	if time.Since(t.at) < every {
		return false
	}
	before, now := t.told, t.now()
	charge := int(now.Battery) - int(before.Battery)
	before.Battery = now.Battery
	return before != now || charge >= worth || charge <= -worth
}

// now asks the app. It leaves out parts that a request cannot carry, and logs that once.
func (t *Teller) now() deviceinfo.Device {
	d, err := t.ask()
	if err == nil {
		return d
	}
	if !t.mute {
		t.mute = true
		t.Logger.Error("Config.About: nothing is told", "err", err)
	}
	return deviceinfo.Device{}
}

func (t *Teller) ask() (d deviceinfo.Device, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	d = t.Ask()
	return d, d.Check()
}
