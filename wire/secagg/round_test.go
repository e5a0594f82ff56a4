package secagg_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire/secagg"
)

// A fleet has a server and devices in one round.
type fleet struct {
	t       testing.TB
	server  *secagg.Server
	devices map[uint32]*secagg.Device
	values  map[uint32][]uint32
	round   secagg.Round
}

// chance returns a source of random bits with a seed.
func chance(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

var secret = []byte("what the devices share, not the coordinator")

// roundOf returns a round of n members, whose slots have gaps.
func roundOf(n, words int) secagg.Round {
	r := secagg.Round{Context: []byte("run kitchen, record 7"), Words: words}
	for i := range n {
		r.Members = append(r.Members, uint32(3*i+1))
	}
	return r
}

func newFleet(t testing.TB, r secagg.Round, seed byte) *fleet {
	t.Helper()
	server, err := secagg.NewServer(r)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t, server, map[uint32]*secagg.Device{}, map[uint32][]uint32{}, r}
	random := chance(seed)
	for _, slot := range r.Members {
		if f.devices[slot], err = secagg.NewDevice(r, slot, random, secret); err != nil {
			t.Fatal(err)
		}
		f.values[slot] = make([]uint32, r.Words)
		for i := range f.values[slot] {
			f.values[slot][i] = uint32(random.Uint64())
		}
	}
	return f
}

// answer returns a device's answer to the open step.
func (f *fleet) answer(slot uint32) ([]byte, error) {
	d, given := f.devices[slot], f.server.Give(slot)
	switch f.server.Step() {
	case secagg.StepKeys:
		return d.Keys(), nil
	case secagg.StepShares:
		return d.Shares(given)
	case secagg.StepMask:
		return d.Mask(given, f.values[slot])
	case secagg.StepAgree:
		return d.Agree(given)
	default:
		return d.Unmask(given)
	}
}

// step has all devices but those that left answer the open step, and closes it.
func (f *fleet) step(left map[uint32]bool) error {
	f.t.Helper()
	step := f.server.Step()
	for _, slot := range f.server.Missing() {
		if left[slot] {
			continue
		}
		b, err := f.answer(slot)
		if err != nil {
			f.t.Fatalf("slot %d, %v: %v", slot, step, err)
		}
		again, err := f.answer(slot)
		if err != nil || !slices.Equal(b, again) {
			f.t.Fatalf("slot %d, %v: the second answer differs: %v", slot, step, err)
		}
		for range 2 { // an answer may come twice
			if err := f.server.Take(step, slot, b); err != nil {
				f.t.Fatalf("slot %d, %v: %v", slot, step, err)
			}
		}
	}
	enough := f.server.Enough()
	err := f.server.Close()
	if enough != (err == nil) {
		f.t.Fatalf("%v: enough is %v, closing gives %v", step, enough, err)
	}
	return err
}

// run runs the round to its end. leaves returns the step before whose answer a device leaves.
func (f *fleet) run(leaves func(slot uint32) secagg.Step) error {
	f.t.Helper()
	left := map[uint32]bool{}
	for f.server.Step() != secagg.StepDone {
		step := f.server.Step()
		for _, slot := range f.round.Members {
			left[slot] = left[slot] || leaves(slot) == step
		}
		if err := f.step(left); err != nil {
			if f.server.Step() != step {
				f.t.Fatalf("%v after an error, want %v", f.server.Step(), step)
			}
			return err
		}
	}
	return nil
}

// wantSum compares the server's sum with the sum of the values of the given slots.
func (f *fleet) wantSum(want []uint32) {
	f.t.Helper()
	words, slots, err := f.server.Sum()
	if err != nil {
		f.t.Fatal(err)
	}
	if !slices.Equal(slots, want) {
		f.t.Fatalf("a sum of %v, want %v", slots, want)
	}
	if sum := f.sumOf(want); !slices.Equal(words, sum) {
		f.t.Fatalf("got %v, want %v", words, sum)
	}
}

// sumOf returns the sum of the given slots' values.
func (f *fleet) sumOf(slots []uint32) []uint32 {
	sum := make([]uint32, f.round.Words)
	for _, slot := range slots {
		for i, v := range f.values[slot] {
			sum[i] += v
		}
	}
	return sum
}

func stays(uint32) secagg.Step { return secagg.StepDone }

// Each of up to four devices stays, or leaves before one of its four answers, in every combination.
// For five devices the test has each combination in one order only. The sum is exact, or the server
// returns an error.
func TestAllDropouts(t *testing.T) {
	for n, rounds := range map[int]int{2: 25, 3: 125, 4: 625, 5: 126} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			sums, seen := 0, 0
			for pattern := range 3125 {
				leaves := map[uint32]secagg.Step{}
				rest, last, ordered := pattern, 0, true
				for _, slot := range roundOf(n, 1).Members {
					leaves[slot] = secagg.Step(rest % 5)
					ordered = ordered && rest%5 >= last
					last, rest = rest%5, rest/5
				}
				if rest > 0 || n == 5 && !ordered {
					continue
				}
				seen++
				sums += newFleet(t, roundOf(n, 3), byte(pattern)).wantOutcome(leaves)
			}
			if seen != rounds || sums == 0 || sums == seen {
				t.Errorf("%d sums of %d rounds, want some of %d", sums, seen, rounds)
			}
		})
	}
}

// wantOutcome runs a round in which all are neighbors, and returns 1 if there was a sum. There must
// be a sum exactly if the threshold of devices stayed to the end.
func (f *fleet) wantOutcome(leaves map[uint32]secagg.Step) int {
	f.t.Helper()
	var sent []uint32
	stayed := 0
	for _, slot := range f.round.Members {
		if leaves[slot] > secagg.StepMask {
			sent = append(sent, slot)
		}
		if leaves[slot] == secagg.StepDone {
			stayed++
		}
	}
	_, threshold := secagg.Graph(len(f.round.Members))
	err := f.run(func(slot uint32) secagg.Step { return leaves[slot] })
	if stayed < threshold {
		if !errors.Is(err, secagg.ErrThreshold) {
			f.t.Fatalf("%d of %d stayed, got %v, want %v", stayed, threshold, err,
				secagg.ErrThreshold)
		}
		if words, _, err := f.server.Sum(); words != nil || !errors.Is(err, secagg.ErrStep) {
			f.t.Fatalf("got a sum %v, %v, want none", words, err)
		}
		return 0
	}
	if err != nil {
		f.t.Fatalf("%d of %d stayed: %v", stayed, threshold, err)
	}
	f.wantSum(sent)
	return 1
}

// In rounds of more than 100 devices not all are neighbors. In this test a fifth of the devices
// leaves, at any step.
func TestSparse(t *testing.T) {
	for _, n := range []int{150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, roundOf(n, 5), byte(n))
			var sent []uint32
			leaves := map[uint32]secagg.Step{}
			for i, slot := range f.round.Members {
				leaves[slot] = secagg.StepDone
				if i%5 == 2 {
					leaves[slot] = secagg.Step(i / 5 % 4)
				}
				if leaves[slot] > secagg.StepMask {
					sent = append(sent, slot)
				}
			}
			err := f.run(func(slot uint32) secagg.Step { return leaves[slot] })
			if err != nil {
				t.Fatal(err)
			}
			f.wantSum(sent)
			if dropped := len(f.server.Dropped()); dropped != n-len(sent) {
				t.Errorf("%d dropped, want %d", dropped, n-len(sent))
			}
		})
	}
}

// After Close has failed for too few answers, later answers still count.
func TestCloseLater(t *testing.T) {
	f := newFleet(t, roundOf(5, 1), 1)
	gone := map[uint32]bool{1: true, 4: true, 7: true}
	for step := range secagg.StepDone {
		if err := f.step(gone); !errors.Is(err, secagg.ErrThreshold) {
			t.Fatalf("%v: got %v, want %v", step, err, secagg.ErrThreshold)
		}
		if err := f.step(nil); err != nil {
			t.Fatal(err)
		}
	}
	f.wantSum(f.round.Members)
	if err := f.server.Close(); !errors.Is(err, secagg.ErrStep) {
		t.Errorf("closing twice: got %v, want %v", err, secagg.ErrStep)
	}
}

func TestThreshold(t *testing.T) {
	r := roundOf(6, 2)
	r.Threshold = 6
	f := newFleet(t, r, 1)
	err := f.run(func(slot uint32) secagg.Step { return secagg.StepDone - secagg.Step(slot/16) })
	if !errors.Is(err, secagg.ErrThreshold) {
		t.Errorf("got %v, want %v", err, secagg.ErrThreshold)
	}
	f = newFleet(t, r, 1)
	if err := f.run(stays); err != nil {
		t.Fatal(err)
	}
	f.wantSum(r.Members)
}

func TestRounds(t *testing.T) {
	good := roundOf(5, 2)
	for name, change := range map[string]func(r *secagg.Round){
		"no context":     func(r *secagg.Round) { r.Context = nil },
		"long context":   func(r *secagg.Round) { r.Context = make([]byte, 1025) },
		"one member":     func(r *secagg.Round) { r.Members = r.Members[:1] },
		"many members":   func(r *secagg.Round) { r.Members = make([]uint32, 1<<20+1) },
		"unsorted":       func(r *secagg.Round) { r.Members = []uint32{1, 3, 2, 4, 7} },
		"twice":          func(r *secagg.Round) { r.Members = []uint32{1, 3, 3, 4, 7} },
		"no words":       func(r *secagg.Round) { r.Words = 0 },
		"many words":     func(r *secagg.Round) { r.Words = 1<<24 + 1 },
		"low threshold":  func(r *secagg.Round) { r.Threshold = 2 },
		"high threshold": func(r *secagg.Round) { r.Threshold = 6 },
		"negative":       func(r *secagg.Round) { r.Threshold = -1 },
	} {
		r := good
		change(&r)
		if _, err := secagg.NewServer(r); !errors.Is(err, secagg.ErrRound) {
			t.Errorf("%s: a server, got %v, want %v", name, err, secagg.ErrRound)
		}
		if _, err := secagg.NewDevice(r, 1, chance(1), nil); !errors.Is(err, secagg.ErrRound) {
			t.Errorf("%s: a device, got %v, want %v", name, err, secagg.ErrRound)
		}
	}
	if _, err := secagg.NewDevice(good, 2, chance(1), nil); !errors.Is(err, secagg.ErrRound) {
		t.Errorf("no member: got %v, want %v", err, secagg.ErrRound)
	}
	if _, err := secagg.NewDevice(good, 1, chance(1), secret[:15]); !errors.Is(err,
		secagg.ErrRound) {
		t.Errorf("a short secret: got %v, want %v", err, secagg.ErrRound)
	}
}
