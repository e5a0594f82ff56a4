package book

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
	"github.com/zofl/zofl/wire"
)

// contributors returns the devices whose contributions are in a round's terms, each device once.
// With medians the contributors are the devices over which the coordinator took the median.
func (b *Book) contributors(r *wire.Record, p *plan.Plan) ([]int, error) {
	switch {
	case p.Transport == plan.Relay:
		return b.relayed(r, p)
	case p.Aggregator == plan.Median:
		return b.middle(r, p)
	}
	s := b.scenario
	counted, err := b.term(r, p, &r.Round.Terms[0], func(v float64) ([]int, bool) {
		if p.Summed() {
			return b.maskedSum(r, p, v)
		}
		return s.Solve(v, int(r.Round.Contributors))
	})
	switch {
	case err != nil || p.Control == plan.NoControl || r.Round.Phase == 1:
		return counted, err
	case p.Control == plan.ScaffoldPoint:
		return counted, b.secondPhase(r, p, counted)
	}
	return counted, b.variates(r, p, counted)
}

// term returns the devices that a term's scalars count; all scalars must count the same devices.
// one finds the devices of a scalar that was divided by its scale.
func (b *Book) term(r *wire.Record, plan *plan.Plan, t *wire.Term,
	one func(v float64) ([]int, bool)) ([]int, error) {
	if t.Back > r.N-2 || t.Back > 0 && b.chain[r.N-t.Back-1].record.Kind != wire.KindRound {
		return nil, fmt.Errorf("a term refers to record %d, which is not a round", r.N-t.Back)
	}
	of := r
	if t.Back > 0 {
		of = &b.chain[r.N-t.Back-1].record
	}
	perturbations, steps := int(of.Round.Perturbations), int(plan.Steps)
	if of.Round.Phase == 1 {
		steps = 1
	}
	values := plan.Precision.Values(t.Scalars, steps, perturbations)
	if values == nil {
		return nil, fmt.Errorf("a term of record %d has %d bytes of scalars, want %d*%d scalars",
			of.N, len(t.Scalars), steps, perturbations)
	}
	var counted []int
	for i, v := range values {
		v := float64(v)
		found, ok := one(v / b.scenario.Scale(of.N, i/perturbations, i%perturbations))
		switch {
		case !ok:
			return nil, fmt.Errorf("%v, of record %d, is not made of devices' slopes, each once", v, of.N)
		case i > 0 && !slices.Equal(found, counted):
			return nil, fmt.Errorf("scalar %d counts %v, scalar 0 %v", i, found, counted)
		}
		counted = found
	}
	return counted, nil
}

// relayed checks a round that has each contributor's scalars, and returns the contributors.
func (b *Book) relayed(r *wire.Record, p *plan.Plan) (counted []int, err error) {
	s := b.scenario
	b.world.Count("relay " + p.Precision.String())
	if len(r.Round.Terms) != int(r.Round.Contributors) || len(r.Round.Terms) > int(p.Target) {
		return nil, fmt.Errorf("%d terms of %d contributors, target %d",
			len(r.Round.Terms), r.Round.Contributors, p.Target)
	}
	for i := range r.Round.Terms {
		t := &r.Round.Terms[i]
		if t.Back > 0 || t.Source == 0 || int(t.Source) > len(b.members) {
			return nil, fmt.Errorf("term %d is of record %d, source %d, of %d members",
				i, r.N-t.Back, t.Source, len(b.members))
		}
		d := 0
		for d < s.Devices-1 && scenario.DeviceName(d) != b.members[t.Source-1] {
			d++
		}
		slope := s.Slope(d)
		one, err := []int{d}, error(nil)
		if p.Precision.Quantized() {
			err = b.asSent(r, p, t.Scalars, slope)
		} else {
			one, err = b.term(r, p, t,
				func(v float64) ([]int, bool) { return []int{d}, v == slope })
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.members[t.Source-1], err)
		}
		if weighted := p.Weights == plan.BySamples; weighted != (len(r.Round.Weights) > i) ||
			weighted && r.Round.Weights[i] != s.Weights[d] {
			return nil, fmt.Errorf("weights %d, that of %s is %d",
				r.Round.Weights, scenario.DeviceName(d), s.Weights[d])
		}
		counted = append(counted, one...)
	}
	return counted, nil
}

// asSent checks that a contribution has the bytes that a device with this slope sends: the device
// encodes its measurements once.
func (b *Book) asSent(r *wire.Record, plan *plan.Plan, scalars wire.Scalars, slope float64) error {
	var want wire.Scalars
	for k := range int(plan.Steps) {
		var block []float32
		for p := range int(r.Round.Perturbations) {
			block = append(block, float32(slope*b.scenario.Scale(r.N, k, p)))
		}
		want = plan.Precision.Append(want, block...)
	}
	if !bytes.Equal(scalars, want) {
		return fmt.Errorf("%x, want %x of slope %v", scalars, want, slope)
	}
	return nil
}

// middle checks a round of medians. Each median is the slope of one device, or the mean of the
// slopes of two devices, and equally many other devices can be on either side of the median.
func (b *Book) middle(r *wire.Record, plan *plan.Plan) ([]int, error) {
	s, count := b.scenario, int(r.Round.Contributors)
	b.world.Count("median " + plan.Precision.String())
	return b.term(r, plan, &r.Round.Terms[0], func(v float64) ([]int, bool) {
		if count%2 == 0 {
			found, ok := s.Digits(2*v, 2, 2)
			return found, ok && found[0] >= count/2-1 && s.Devices-1-found[1] >= count/2-1
		}
		found, ok := s.Digits(v, 1, 1)
		return found, ok && found[0] >= count/2 && s.Devices-1-found[0] >= count/2
	})
}

// secondPhase checks that the correction in phase 2 comes from the contributions of the same
// devices to phase 1.
func (b *Book) secondPhase(r *wire.Record, plan *plan.Plan, counted []int) error {
	if len(r.Round.Terms) != 2 {
		return fmt.Errorf("it has %d terms, want 2", len(r.Round.Terms))
	}
	t := &r.Round.Terms[1]
	found, err := b.term(r, plan, t,
		func(v float64) ([]int, bool) { return b.scenario.Solve(v, int(r.Round.Contributors)) })
	switch {
	case err != nil:
		return err
	case b.chain[r.N-t.Back-1].record.Round.Phase != 1:
		return fmt.Errorf("it corrects by record %d, which is not of phase 1", r.N-t.Back)
	case !slices.Equal(found, counted):
		return fmt.Errorf("it counts %v, and control variates of %v", counted, found)
	}
	b.world.Count("second phase")
	if p := b.chain[r.N-t.Back-1].record.Round.Perturbations; p != r.Round.Perturbations {
		b.world.Count("second phase of another P")
	}
	return nil
}

// variates checks that a round's corrections are earlier contributions of the round's contributors,
// counted by rounds that no rollback undid.
func (b *Book) variates(r *wire.Record, plan *plan.Plan, counted []int) error {
	if got := b.holders(r.Round.Slots); !slices.Equal(got, counted) {
		return fmt.Errorf("it counts %v, its slots name %v", counted, got)
	}
	if n := int(r.Round.Population); n < len(counted) || n > len(b.members) {
		return fmt.Errorf("a population of %d, %d devices are members", n, len(b.members))
	}
	left, of := b.left(uint64(len(b.chain))), map[int]uint64{}
	for i := range r.Round.Terms[1:] {
		t := &r.Round.Terms[1+i]
		n := r.N - t.Back
		found, err := b.term(r, plan, t,
			func(v float64) ([]int, bool) { return b.scenario.Part(v, len(counted)) })
		if err != nil {
			return err
		}
		for _, d := range found {
			switch {
			case !left[n]:
				return fmt.Errorf("%s brings a control variate of record %d, which was rolled back",
					scenario.DeviceName(d), n)
			case !b.counts(n, d):
				return fmt.Errorf("%s brings a control variate of record %d, which did "+
					"not count it", scenario.DeviceName(d), n)
			case of[d] > 0 || !slices.Contains(counted, d):
				return fmt.Errorf("%s brings control variates of records %d and %d, or did not "+
					"contribute", scenario.DeviceName(d), of[d], n)
			}
			of[d] = n
			b.noteVariate(r.Round, t, b.chain[n-1].record.Round)
		}
	}
	return nil
}

// noteVariate counts a control variate of an older round.
func (b *Book) noteVariate(r *wire.Round, t *wire.Term, of *wire.Round) {
	b.world.Count("control variate")
	if t.Back > 1 {
		b.world.Count("control variate of old")
	}
	if of.Perturbations != r.Perturbations {
		b.world.Count("control variate of another P")
	}
}

// counts reports whether round n counts a device. The round's slots do not show that: a log that
// lost records may have given a slot to another device since.
func (b *Book) counts(n uint64, device int) bool {
	return slices.ContainsFunc(b.chain[n-1].counted,
		func(a answer) bool { return a.device == scenario.DeviceName(device) })
}

// holders returns the devices that hold the given slots, ascending.
func (b *Book) holders(slots []uint32) (devices []int) {
	for d := range b.scenario.Devices {
		for _, slot := range slots {
			if int(slot) < len(b.members) && b.members[slot] == scenario.DeviceName(d) {
				devices = append(devices, d)
			}
		}
	}
	return devices
}

// left returns the records up to n that no rollback undid.
func (b *Book) left(n uint64) map[uint64]bool {
	left := map[uint64]bool{}
	for n > 0 {
		left[n] = true
		if e := &b.chain[n-1]; e.record.Kind == wire.KindRollback {
			n = e.record.To
		} else {
			n--
		}
	}
	return left
}
