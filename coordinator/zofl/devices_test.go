package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/version"
)

// startDevice starts a device as a process of its own.
func (k *kitchen) startDevice(id string) *process {
	k.t.Helper()
	return start(k.t, "client", "--url", k.url, "--run", "kitchen", "--id", id, "--json",
		"--objective", "bowl", "--dim", fmt.Sprint(kitchenDim), "--store", filepath.Join(k.dir, id))
}

// devices runs `zofl devices --json`.
func (k *kitchen) devices() []operate.Device {
	k.t.Helper()
	out, err := zofl(k.t, "devices", "kitchen", "--url", k.url, "--json")
	if err != nil {
		k.t.Fatal(err)
	}
	var got struct {
		Run     string
		Devices []operate.Device
	}
	decode(k.t, out, &got)
	if got.Run != "kitchen" {
		k.t.Fatalf("devices of run %q", got.Run)
	}
	return got.Devices
}

// until asks for the devices until their ids and states are as wanted.
func (k *kitchen) until(want string) []operate.Device {
	k.t.Helper()
	for began := time.Now(); ; {
		list, states := k.devices(), []string{}
		for _, d := range list {
			states = append(states, d.ID+" "+d.State)
		}
		got := strings.Join(states, ", ")
		if got == want {
			return list
		}
		if time.Since(began) > patience {
			k.t.Fatalf("devices %q, want %q", got, want)
		}
	}
}

// TestDevices: zofl devices lists devices that were killed, have left or were retired, absent
// devices first. Rounds do not wait for a retired device, and it cannot join again.
func TestDevices(t *testing.T) {
	k := newKitchen(t)
	k.reach(1)
	if list := k.devices(); len(list) != 0 {
		t.Errorf("before anybody joined: %+v", list)
	}
	a := k.startDevice("a")
	waitFor(t, k.lead, `"event":"joined"`)
	b := k.startDevice("b")
	k.reach(3)
	c := k.startDevice("c")
	waitFor(t, k.lead, `"id":"c"`)
	k.reach(k.reach(3).N + 5)
	for _, d := range k.until("a present, b present, c present") {
		if d.LastSeen == nil || d.Silence < 0 || d.Silence > patience.Seconds() || d.Latency <= 0 {
			t.Errorf("%+v", d)
		}
		if d.Record == 0 || d.Program != "zofl "+version.String() ||
			d.Platform != runtime.GOOS+"/"+runtime.GOARCH || d.Power != "" || d.Network != "" {
			t.Errorf("%+v, want its program and platform, and a record", d)
		}
	}
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	k.until("a silent, b present, c present")
	if code := b.interrupt(); code != 0 {
		t.Errorf("b was interrupted: exit code %d", code)
	}
	list := k.until("a silent, b left, c present")
	if list[0].Missed < 3 {
		t.Errorf("%d rounds waited for a silent device", list[0].Missed)
	}
	if out, err := zofl(t, "devices", "--run", "kitchen", "--url", k.url); err != nil ||
		!strings.Contains(out, "3 devices: 1 silent, 1 left, 1 present") ||
		!strings.Contains(out, "rounds waited in vain") {
		t.Errorf("%v:\n%s", err, out)
	}
	if s, err := k.ask("retire", "a"); err != nil || s.Pending || s.Members != 3 {
		t.Errorf("retire: %+v, %v", s, err)
	}
	waitFor(t, k.lead, `"event":"retired"`)
	if _, err := k.ask("retire", "a"); err != nil {
		t.Errorf("a retired device is retired again: %v", err)
	}
	k.until("a retired, b left, c present")
	again := k.startDevice("a")
	if code := again.exited(); code == 0 || !strings.Contains(again.stderr.String(), "retired") {
		t.Errorf("a retired device came back: exit code %d, %s", code, again.stderr.String())
	}
	waitFor(t, k.lead, `"event":"join refused"`)
	k.startDevice("b")
	k.until("a retired, b present, c present")
	if code := c.interrupt(); code != 0 {
		t.Errorf("c was interrupted: exit code %d", code)
	}
}

func TestDevicesAndRetireRefuse(t *testing.T) {
	k := newKitchen(t)
	k.reach(1)
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"retire", "ghost", "--run", "kitchen"}, cli.ExitFailure,
			[]string{"refused", "ghost", "zofl devices"}},
		{[]string{"retire", "--run", "kitchen"}, cli.ExitUsage, []string{"no ids", "zofl devices"}},
		{[]string{"retire", "a b", "--run", "kitchen"}, cli.ExitUsage, []string{"a b"}},
		{[]string{"retire", "a"}, cli.ExitUsage, []string{"--run"}},
		{[]string{"devices"}, cli.ExitUsage, []string{"--run"}},
		{[]string{"devices", "kitchen", "--run", "cellar"}, cli.ExitUsage, []string{"kitchen", "cellar"}},
		{[]string{"devices", "kitchen", "cellar"}, cli.ExitUsage, []string{"2 runs"}},
		{[]string{"devices", "nosuch"}, cli.ExitAbsent, []string{"no coordinator answers", "nosuch"}},
	} {
		code, out, text := runs(t, append(c.args, "--url", k.url)...)
		if code != c.code || !hasAll(text, c.want) || out != "" {
			t.Errorf("%v: exit code %d, want %d and %q: %s", c.args, code, c.code, c.want, text)
		}
	}
	code, out, _ := runs(t, "devices", "kitchen", "--url", k.url, "--json")
	if want := `{"devices":[],"run":"kitchen"}`; code != 0 || !json.Valid([]byte(out)) ||
		strings.TrimSpace(out) != want {
		t.Errorf("exit code %d, %s, want %s", code, out, want)
	}
}
