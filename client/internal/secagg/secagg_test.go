package secagg

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// attemptOf returns an attempt that asks n devices.
func attemptOf(n uint32) secagg.Attempt {
	return secagg.Attempt{Run: "r", N: 2, Epoch: 1, Words: 2,
		Cohort: wire.Cohort{Sampled: uint64(n), Members: n}}
}

var thePlan = &plan.Plan{
	AggregateFields: plan.AggregateFields{MaxScalar: 10}, RoundsFields: plan.RoundsFields{Quorum: 3},
}

// TestSmallRound: a device takes no part if the attempt has fewer devices than the quorum, or does
// not include the device.
func TestSmallRound(t *testing.T) {
	a := attemptOf(10)
	a.Leave(func(slot uint32) bool { return slot > 1 })
	cfg := Config{Plan: thePlan, Attempt: a, Slot: 1}
	if _, err := Begin(t.Context(), cfg); !errors.Is(err, errFew) {
		t.Errorf("among two: %v", err)
	}
	a.Leave(func(slot uint32) bool { return slot == 1 })
	cfg.Attempt = a
	if _, err := Begin(t.Context(), cfg); !errors.Is(err, ErrOut) {
		t.Errorf("out of the round: %v", err)
	}
}

// TestSession: a session repeats requests until an answer comes, and ignores frames that are no
// answer. The session ends when the coordinator says so, when another announcement supersedes it,
// or with a final error.
func TestSession(t *testing.T) {
	a := attemptOf(4)
	over := secagg.Answer{N: a.N, Nonce: a.Nonce(), Step: secagg.StepKeys, State: secagg.Over}
	foreign := over
	foreign.Nonce[0]++
	calls := 0
	answers := []func() ([]byte, error){
		func() ([]byte, error) { return nil, bus.ErrOffline },
		func() ([]byte, error) { return []byte{1}, nil },
		func() ([]byte, error) { return foreign.Append(nil), nil },
		func() ([]byte, error) { return over.Append(nil), nil },
	}
	cfg := Config{Plan: thePlan, Attempt: a, Slot: 1, Words: ScalarWords,
		Ask: func(context.Context, []byte) ([]byte, error) {
			calls++
			return answers[min(calls, len(answers))-1]()
		}}
	s, err := Begin(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if sent, err := s.Finish(wire.AppendScalars(nil, 1), 2); sent || !errors.Is(err, errOver) ||
		calls != len(answers) {
		t.Errorf("sent %v, %v after %d calls", sent, err, calls)
	}
	s.Close()

	cfg.Ask = func(ctx context.Context, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if s, err = Begin(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Millisecond, s.Supersede)
	if _, err := s.Finish(nil, 0); !errors.Is(err, errSuperseded) {
		t.Errorf("superseded: %v", err)
	}
	s.Close()

	cfg.Ask = func(context.Context, []byte) ([]byte, error) { return nil, bus.ErrPermission }
	if s, err = Begin(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(nil, 0); !errors.Is(err, bus.ErrPermission) {
		t.Errorf("denied: %v", err)
	}
	s.Close()
}
