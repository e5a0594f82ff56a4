// Package notify decides when a device sends its operator the description that the app gives of the
// device.
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
	// worth is the least change of a battery's charge, in percent, that the device sends.
	worth = 5
)

// A Teller sends the operator what the app says about the device. Only one goroutine may use a
// Teller.
type Teller struct {
	Ask    func() deviceinfo.Device // of the app
	Logger *slog.Logger

	told deviceinfo.Device
	at   time.Time
	mute bool // the app's description is invalid, and the teller has logged that
}

// Append appends the app's present description to the rest of a join request.
func (t *Teller) Append(rest []byte) []byte {
	if t.told, t.at = t.now(), time.Now(); t.told == (deviceinfo.Device{}) {
		return rest
	}
	return t.told.Append(rest)
}

// Due says whether there is something new to send.
func (t *Teller) Due() bool {
	if time.Since(t.at) < every {
		return false
	}
	before, now := t.told, t.now()
	charge := int(now.Battery) - int(before.Battery)
	before.Battery = now.Battery
	return before != now || charge >= worth || charge <= -worth
}

// now asks the app. If the app panics or its description is invalid, now returns an empty
// description, and logs that once.
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
