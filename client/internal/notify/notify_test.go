package notify

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/wire/deviceinfo"
)

// told returns the description and the values in a tail.
func told(tail []byte) (deviceinfo.Device, deviceinfo.Values) {
	d, rest, _ := deviceinfo.Of(tail)
	return d, deviceinfo.ValuesOf(rest)
}

// TestReport: the last value of a name is sent once, with the app's description if it has one.
func TestReport(t *testing.T) {
	teller := &Teller{Logger: slog.New(slog.DiscardHandler)}
	if tail := teller.Append(nil, true); tail != nil {
		t.Errorf("it sends %x without a value", tail)
	}
	for i := range 3 {
		if err := teller.Report("loss", float64(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := teller.Report("loss of mine", 1); !errors.Is(err, deviceinfo.ErrValues) {
		t.Errorf("a name with spaces: %v", err)
	}
	if !teller.Due() {
		t.Error("a value is not due")
	}
	if tail := teller.Append(nil, false); tail != nil || !teller.Holds() {
		t.Errorf("a device that is no member sends %x", tail)
	}
	if _, v := told(teller.Append(nil, true)); !maps.Equal(v, deviceinfo.Values{"loss": 2}) {
		t.Errorf("sent %v", v)
	}
	teller.Ask = func() deviceinfo.Device { return deviceinfo.Device{Battery: 50} }
	if d, v := told(teller.Append(nil, true)); v != nil || d.Battery != 50 || teller.Due() {
		t.Errorf("sent %+v, and again %v", d, v)
	}
	for i := range deviceinfo.MaxValues {
		if err := teller.Report(fmt.Sprint("v", i), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := teller.Report("more", 1); !errors.Is(err, deviceinfo.ErrValues) {
		t.Errorf("one name too many: %v", err)
	}
	if _, v := told(teller.Append(nil, true)); len(v) != deviceinfo.MaxValues {
		t.Errorf("sent %v", v)
	}
}

// TestSeldom: an app that reports all the time has a curve of some points after a minute, and is
// heard every ten seconds after an hour.
func TestSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		teller := &Teller{}
		sent, begin := map[int]int{}, time.Now()
		for time.Since(begin) < 2*time.Hour {
			_ = teller.Report("x", 1)
			if teller.Due() {
				teller.Append(nil, true)
				sent[int(time.Since(begin).Minutes())]++
			}
			time.Sleep(max(50*time.Millisecond, time.Since(begin)/500))
		}
		if sent[0] < 50 || sent[0] > 240 || sent[100] > 6 || sent[100] < 5 {
			t.Errorf("%d in the first minute, %d in a later one", sent[0], sent[100])
		}
	})
}
