// Package notify decides when a device sends its operator what the app says of the device: its
// description, and numbers of the app's own.
package notify

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/zofl/zofl/wire/deviceinfo"
)

const (
	// every bounds how often a device that stays in the run sends changes of its description.
	every = time.Minute
	// worth is the least change of a battery's charge, in percent, that the device sends.
	worth = 5
	// soonest and latest bound the time between two messages with values. In between, that time is a
	// part of the time since the first: a short run gets a curve, and a long run costs few bytes.
	soonest = 250 * time.Millisecond
	latest  = 10 * time.Second
	part    = 64
)

// A Teller sends the operator what the app says about the device. Only one goroutine may use a
// Teller, but any goroutine may call Report.
type Teller struct {
	Ask    func() deviceinfo.Device // of the app; nil: it describes nothing
	Logger *slog.Logger

	told deviceinfo.Device
	at   time.Time
	mute bool // the app's description is invalid, and the teller has logged that

	mu     sync.Mutex        // guards what follows
	values deviceinfo.Values // that were not sent yet
	first  time.Time         // when values were sent first
	last   time.Time         // when values were sent last
}

// Report keeps a value for the next message. A later value of the same name replaces it. The error
// matches [deviceinfo.ErrValues].
func (t *Teller) Report(name string, value float64) error {
	if err := deviceinfo.CheckValue(name, value); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, has := t.values[name]; !has && len(t.values) >= deviceinfo.MaxValues {
		return fmt.Errorf("%q %w: a device reports at most %d names", name, deviceinfo.ErrValues,
			deviceinfo.MaxValues)
	}
	if t.values == nil {
		t.values = deviceinfo.Values{}
	}
	t.values[name] = value
	return nil
}

// Append appends the app's present description to the rest of a join request, and its values if the
// device is a member.
func (t *Teller) Append(rest []byte, member bool) []byte {
	var values deviceinfo.Values
	if member {
		values = t.take()
	}
	if t.told, t.at = t.now(), time.Now(); t.told == (deviceinfo.Device{}) && len(values) == 0 {
		return rest
	}
	if rest = t.told.Append(rest); len(values) > 0 {
		rest = values.Append(rest)
	}
	return rest
}

// take returns the values that were not sent yet.
func (t *Teller) take() deviceinfo.Values {
	t.mu.Lock()
	defer t.mu.Unlock()
	values := t.values
	if len(values) > 0 {
		t.values, t.last = nil, time.Now()
		if t.first.IsZero() {
			t.first = t.last
		}
	}
	return values
}

// Due says whether there is something new to send.
func (t *Teller) Due() bool {
	if t.reports() {
		return true
	}
	if time.Since(t.at) < every {
		return false
	}
	before, now := t.told, t.now()
	charge := int(now.Battery) - int(before.Battery)
	before.Battery = now.Battery
	return before != now || charge >= worth || charge <= -worth
}

// Holds says whether there are values that were not sent yet.
func (t *Teller) Holds() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.values) > 0
}

// reports says whether there are values, and it is time to send them.
func (t *Teller) reports() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	pause := min(max(t.last.Sub(t.first)/part, soonest), latest)
	return len(t.values) > 0 && time.Since(t.last) >= pause
}

// now asks the app. If the app panics or its description is invalid, now returns an empty
// description, and logs that once.
func (t *Teller) now() deviceinfo.Device {
	if t.Ask == nil {
		return deviceinfo.Device{}
	}
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
