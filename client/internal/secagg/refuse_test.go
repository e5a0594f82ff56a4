package secagg

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// A liar leads a session of slot 1 in a round of five, with four devices beside it, and flips a
// byte of what the session gets in a step.
type liar struct {
	t       *testing.T
	server  *secagg.Server
	devices map[uint32]*secagg.Device
	step    secagg.Step // after which it lies
	at      int
	last    secagg.Request // of the session
}

// ask answers the session.
func (l *liar) ask(_ context.Context, frame []byte) ([]byte, error) {
	r, err := secagg.DecodeRequest(frame)
	if err != nil {
		l.t.Fatal(err)
	}
	l.last = r
	a := secagg.Answer{N: r.N, Nonce: r.Nonce, Step: r.Step, State: secagg.Over}
	if len(r.Body) > 0 && r.Step < secagg.StepMask {
		l.take(1, r.Body)
		for slot, d := range l.devices {
			if r.Step == secagg.StepKeys {
				l.take(slot, d.Keys())
			} else if b, err := d.Shares(l.server.Give(slot)); err == nil {
				l.take(slot, b)
			}
		}
		if err := l.server.Close(); err != nil {
			l.t.Fatal(err)
		}
		if a.State, a.Body = secagg.Next, l.server.Give(1); r.Step == l.step {
			a.Body[l.at] ^= 1
		}
	}
	return a.Append(nil), nil
}

func (l *liar) take(slot uint32, b []byte) {
	l.t.Helper()
	if err := l.server.Take(l.server.Step(), slot, b); err != nil {
		l.t.Fatal(err)
	}
}

// TestRefuses: a device that gets keys with a false tag stops, and tells the coordinator whose they
// are. A device that gets a box that does not open goes on, and tells the coordinator as well.
func TestRefuses(t *testing.T) {
	const list, tag, box = 1, 64, 80
	for step, goesOn := range map[secagg.Step]bool{secagg.StepKeys: false, secagg.StepShares: true} {
		a := attemptOf(5)
		round := a.Round(thePlan)
		server, err := secagg.NewServer(round)
		if err != nil {
			t.Fatal(err)
		}
		l := &liar{t: t, server: server, devices: map[uint32]*secagg.Device{}, step: step,
			at: list + tag}
		if goesOn {
			l.at = list + box
		}
		for _, slot := range []uint32{0, 2, 3, 4} {
			if l.devices[slot], err = secagg.NewDevice(round, slot, rand.Reader, nil); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Begin(t.Context(), Config{Plan: thePlan, Attempt: a, Slot: 1, Ask: l.ask,
			Words: ScalarWords})
		if err != nil {
			t.Fatal(err)
		}
		sent, err := s.Finish(wire.AppendScalars(nil, 1), 2)
		refused := s.Refused()
		s.Close()
		want, slot := secagg.StepShares, uint32(0)
		if goesOn {
			want, slot = secagg.StepMask, 2
		}
		if got := l.last.Refuses(); sent != goesOn || err == nil || l.last.Step != want ||
			(len(l.last.Body) > 0) != goesOn || !slices.Equal(got, []uint32{slot}) {
			t.Errorf("after %v: sent %v, %v; the last request is %v, refuses %v", step, sent, err,
				l.last.Step, got)
		}
		if e := new(secagg.Error); !goesOn && (!errors.As(err, &e) || e.Slot != slot) ||
			goesOn && !slices.Equal(refused, []uint32{slot}) {
			t.Errorf("after %v: %v, refused %v", step, err, refused)
		}
	}
}
