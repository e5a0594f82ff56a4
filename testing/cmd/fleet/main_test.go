package main

import "testing"

// TestFleet checks an undisturbed fleet: no message is lost, no message comes twice, and every
// device ends with the state of the log. The command measures every round.
func TestFleet(t *testing.T) {
	for _, o := range []options{
		{broker: "memory", devices: 600, target: 600},
		{broker: "embedded", devices: 50, target: 40, store: t.TempDir()},
	} {
		o.rounds, o.warmup = 20, 5
		r, err := measure(&o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.fault(); err != nil {
			t.Errorf("%s: %v", o.broker, err)
		}
		if least := uint64((o.rounds + o.warmup) * int(o.target)); r.Sent < least {
			t.Errorf("%s: %d messages, want at least %d", o.broker, r.Sent, least)
		}
		if !(r.P50 > 0 && r.P99 >= r.P50 && r.Longest >= r.P99 && r.CPU > 0) {
			t.Errorf("%s: %+v", o.broker, r)
		}
		if (r.Up > 60 && r.Down > 60) != (o.broker == "embedded") {
			t.Errorf("%s: %.1f bytes up, %.1f down a device and round", o.broker, r.Up, r.Down)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		result result
		want   bool
	}{
		{result{}, false}, {result{Lost: 1}, true}, {result{Lost: -1}, true},
		{result{Duplicates: 1}, true}, {result{Differing: 1}, true},
	} {
		if err := c.result.fault(); (err != nil) != c.want {
			t.Errorf("%+v: %v", c.result, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, o := range []options{
		{}, {devices: 1, rounds: 1}, {devices: 1, rounds: 1, warmup: 1, target: 2},
		{devices: 1, rounds: 1, warmup: 1, broker: "carrier-pigeon"},
	} {
		if err := command(t.Output(), &o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
