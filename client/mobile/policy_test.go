package mobile

import (
	"runtime"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire/deviceinfo"
)

// A device works only if the app has reported that every requirement is met.
func TestPolicy(t *testing.T) {
	type (
		net = network
		pow = power
	)
	free, costly := net{true, true, false}, net{true, true, true}
	for name, tt := range map[string]struct {
		policy *policy
		says   string // "": it may work
	}{
		"nothing asked":          {&policy{}, ""},
		"nothing asked, all bad": {&policy{network: costly, power: pow{true, false, 0}}, ""},
		"unmetered, unknown":     {&policy{unmeteredOnly: true}, "SetNetwork"},
		"unmetered, metered":     {&policy{unmeteredOnly: true, network: costly}, "UnmeteredOnly"},
		"unmetered, free":        {&policy{unmeteredOnly: true, network: free}, ""},
		"charging, unknown":      {&policy{chargingOnly: true}, "SetPower"},
		"charging, not": {
			&policy{chargingOnly: true, power: pow{true, false, 100}}, "ChargingOnly"},
		"charging, charging":      {&policy{chargingOnly: true, power: pow{true, true, 3}}, ""},
		"battery, unknown":        {&policy{minBattery: 20}, "SetPower"},
		"battery, charge unknown": {&policy{minBattery: 20, power: pow{true, false, -1}}, "not known"},
		"battery, low": {&policy{minBattery: 20, power: pow{true, false, 19}},
			"MinBattery = 20 and the battery has 19"},
		"battery, enough":           {&policy{minBattery: 20, power: pow{true, false, 20}}, ""},
		"battery, low but charging": {&policy{minBattery: 20, power: pow{true, true, 3}}, ""},
		"battery, charging unknown": {&policy{minBattery: 20, power: pow{true, true, -1}}, ""},
		"all asked, one missing": {&policy{unmeteredOnly: true, chargingOnly: true, minBattery: 20,
			network: costly, power: pow{true, true, 90}}, "UnmeteredOnly"},
		"all asked and held": {&policy{unmeteredOnly: true, chargingOnly: true, minBattery: 20,
			network: free, power: pow{true, true, 90}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := tt.policy
			got := p.blocked()
			if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
				t.Errorf("got %q, want %q in it", got, tt.says)
			}
		})
	}
}

// The client reconnects only after a change to another network: not after the first report, nor for
// the same network again, nor for no network.
func TestNetworkChanges(t *testing.T) {
	var p policy
	for i, step := range []struct{ connected, metered, want bool }{
		{true, false, false}, {true, false, false}, {true, true, true}, {false, true, false},
		{false, false, false}, {true, false, true}, {true, false, false},
	} {
		if got := p.setNetwork(step.connected, step.metered); got != step.want {
			t.Errorf("step %d: changed %v, want %v", i, got, step.want)
		}
	}
}

// A device tells the operator what the app has reported, and nothing else.
func TestPolicyTells(t *testing.T) {
	here := deviceinfo.Device{Program: "pantry 1.4", Platform: runtime.GOOS + "/" + runtime.GOARCH}
	for name, tt := range map[string]struct {
		report func(*policy)
		want   func(*deviceinfo.Device)
	}{
		"nothing": {func(*policy) {}, func(*deviceinfo.Device) {}},
		"battery": {func(p *policy) { p.setPower(false, 57) },
			func(d *deviceinfo.Device) { d.Battery, d.Power = 57, deviceinfo.OnBattery }},
		"no charge": {func(p *policy) { p.setPower(true, -1) },
			func(d *deviceinfo.Device) { d.Power = deviceinfo.Charging }},
		"metered": {func(p *policy) { p.setNetwork(true, true) },
			func(d *deviceinfo.Device) { d.Network = deviceinfo.Metered }},
		"offline": {func(p *policy) { p.setNetwork(false, true) }, func(*deviceinfo.Device) {}},
		"both": {func(p *policy) { p.setNetwork(true, false); p.setPower(true, 120) },
			func(d *deviceinfo.Device) {
				d.Battery, d.Power, d.Network = 100, deviceinfo.Charging, deviceinfo.Unmetered
			}},
	} {
		var p policy
		tt.report(&p)
		want := here
		tt.want(&want)
		if got := p.about("pantry 1.4"); got != want {
			t.Errorf("%s: it tells %+v, want %+v", name, got, want)
		}
	}
}
