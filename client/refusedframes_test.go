package client_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/wire"
)

// The client counts frames that are not announcements. Such frames have no other effect.
func TestGarbageFrames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		good := h.announcement()
		frame := good.Append(nil)
		otherVersion := slices.Clone(frame)
		otherVersion[1] = wire.FrameVersion + 1
		frames := [][]byte{
			nil, {0}, {0xdd, 0xff, 0xff, 0xff, 0xff, 1, 1}, // an array of 2^32-1
			otherVersion, make([]byte, wire.MaxFrame+1),
		}
		for n := range frame {
			frames = append(frames, frame[:n])
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			b := make([]byte, random.IntN(100))
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			frames = append(frames, b)
		}
		for _, f := range frames {
			h.sendFrame(f)
		}
		h.silent()
		h.round()
		if p := d.now(); p.Refused != uint64(len(frames)) {
			t.Errorf("%d frames refused, want %d", p.Refused, len(frames))
		}
		h.announce()
		h.agrees(d, h.last())
	})
}

// The client refuses announcements that decode but that no run can have made, before it spends time
// or memory on them.
func TestImpossibleAnnouncements(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Steps, p.Perturbations = 4000, 3
		h, o := newHost(t, p), newMoody(t)
		d := h.device("d0", o)
		for i, edit := range []func(*wire.Announcement){
			func(a *wire.Announcement) { a.N, a.Records = 1, wire.Records{} },
			func(a *wire.Announcement) { a.N = 1 },
			func(a *wire.Announcement) { a.Records.Add(h.records[0]) },
			func(a *wire.Announcement) { a.Perturbations = 0 },
			func(a *wire.Announcement) { a.Perturbations = 65535 }, // a gigabyte of scalars
			func(a *wire.Announcement) { a.StepSize = 0 },
			func(a *wire.Announcement) { a.StepSize = -1 },
		} {
			h.announce(edit)
			h.silent()
			if p := d.now(); p.Err == nil || p.Refused != uint64(i+1) {
				t.Errorf("%d: progress %+v, want an error and %d refused", i, p, i+1)
			}
		}
		if n := o.calls.Load(); n != 0 {
			t.Errorf("%d callbacks", n)
		}
		h.agrees(d, 1)
	})
}

// A record of a later version ends Run, once it has come for minutes: a device that guessed the
// record's meaning would diverge.
func TestUpgradeStopsRun(t *testing.T) {
	for _, announced := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, testPlan(small))
			d := h.device("d0", bowlLoss(small, 0))
			h.round()
			later := h.commit()
			later[1] = wire.RecordVersion + 1
			if !announced {
				h.commit()
			}
			began := time.Now()
			err := d.finalWhile(func() { h.announce() })
			if !errors.Is(err, wire.ErrUpgrade) || time.Since(began) < 3*time.Minute {
				t.Errorf("Run returned %v after %v, want %v after minutes", err, time.Since(began),
					wire.ErrUpgrade)
			}
			h.agrees(d, 2)
		})
	}
}
