package secagg_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// FuzzDevice gives a device any bytes in any step. If the device refuses the bytes, it still
// answers the right bytes afterwards.
func FuzzDevice(f *testing.F) {
	steps := []secagg.Step{secagg.StepShares, secagg.StepMask, secagg.StepUnmask, secagg.StepAgree}
	fleets := map[secagg.Step]*fleet{}
	for _, step := range steps {
		if fleets[step] = atAgreed(f, 4, secagg.StepAgree, nil); step != secagg.StepAgree {
			fleets[step] = at(f, 4, step)
		}
		f.Add(byte(step), fleets[step].server.Give(1))
		f.Add(byte(step), []byte{7})
	}
	f.Fuzz(func(t *testing.T, which byte, given []byte) {
		step := steps[int(which)%len(steps)]
		fl := fleets[step]
		d := *fl.devices[1] // a copy of the device
		ask := func(given []byte) ([]byte, error) {
			switch step {
			case secagg.StepShares:
				return d.Shares(given)
			case secagg.StepMask:
				return d.Mask(given, fl.values[1])
			case secagg.StepAgree:
				return d.Agree(given)
			default:
				return d.Unmask(given)
			}
		}
		b, err := ask(given)
		if (err == nil) != (b != nil) {
			t.Fatalf("%v: %d bytes and %v", step, len(b), err)
		}
		if err == nil {
			return
		}
		if again, err := ask(fl.server.Give(1)); err != nil || len(again) == 0 {
			t.Fatalf("%v after refused bytes: %v", step, err)
		}
	})
}

// FuzzServer has one of four devices answer with any bytes in one step. The round ends with the
// exact sum of the other devices, or of all devices, or without a sum.
func FuzzServer(f *testing.F) {
	fleets := map[secagg.Step]*fleet{}
	for step := range secagg.StepDone {
		fleets[step] = at(f, 4, step)
		good, err := fleets[step].answer(4)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(step), good)
		f.Add(byte(step), flip(good, 5))
		f.Add(byte(step), make([]byte, len(good)))
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		hostile := secagg.Step(which) % secagg.StepDone
		fl := fleets[hostile]
		taken := fl.server.Take(hostile, 4, b) == nil
		if !taken && len(b)%8 > 0 {
			return // some rounds go on as if the bytes had not come
		}
		fleets[hostile] = at(t, 4, hostile)
		if _, err := fleets[hostile].answer(4); err != nil { // so that the device can go on
			t.Fatal(err)
		}
		fl.t = t
		for fl.server.Step() < secagg.StepDone {
			if !fl.goOn() {
				return
			}
		}
		sum, slots, err := fl.server.Sum()
		if err != nil {
			t.Fatal(err)
		}
		want := make([]uint32, fl.round.Words)
		for _, slot := range slots {
			v := fl.values[slot]
			if slot == 4 && hostile == secagg.StepMask && taken {
				return // the device may send any masked vector
			}
			for i := range want {
				want[i] += v[i]
			}
		}
		if !slices.Equal(sum, want) {
			t.Fatalf("%v: got %v of %v, want %v", hostile, sum, slots, want)
		}
	})
}

// goOn makes the devices that can answer do so, and closes the step. Honest devices can answer,
// unless device 4 sent them wrong bytes.
func (f *fleet) goOn() bool {
	step := f.server.Step()
	for _, slot := range f.server.Missing() {
		b, err := f.answer(slot)
		if err != nil {
			if e := new(secagg.Error); slot != 4 && (!errors.As(err, &e) || e.Slot != 4) {
				f.t.Fatalf("slot %d, %v: %v", slot, step, err)
			}
			continue
		}
		if err := f.server.Take(step, slot, b); err != nil && slot != 4 {
			f.t.Fatal(err)
		}
	}
	return f.server.Close() == nil
}
