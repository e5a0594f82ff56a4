package main

import (
	"fmt"
	"slices"
	"time"
)

// An Outcome is the result of a run.
type Outcome struct {
	Points      []Point // after round 0, 1, ...
	PerRound    uint64  // experiments per device
	Experiments uint64  // per device, in all rounds
	Up, Down    float64 // bytes per device and round at its socket
	Digests     [][32]byte
	Seconds     float64
}

// outcome compares the models of the devices, and returns an error if the models differ.
func (f *fleet) outcome(took time.Duration) (*Outcome, error) {
	o := &Outcome{PerRound: perRound(f.plan), Seconds: took.Seconds()}
	for i, d := range f.devices {
		n, digest := d.client.Digest()
		if o.Digests = append(o.Digests, digest); digest != o.Digests[0] {
			return nil, fmt.Errorf("plate-%d has another model after record %d than plate-0: "+
				"please report this", i, n)
		}
		o.Experiments = max(o.Experiments, d.experiments)
		o.Up += float64(d.traffic.Up())
		o.Down += float64(d.traffic.Down())
	}
	share := float64(f.plan.Rounds) * float64(len(f.devices))
	o.Up, o.Down = o.Up/share, o.Down/share
	// A device that was offline for a round has no point of that round, but another device has.
	longest := slices.MaxFunc(f.devices,
		func(a, b *device) int { return len(a.points) - len(b.points) })
	o.Points = longest.points
	return o, nil
}

// Final returns the gains at the end of the run.
func (o *Outcome) Final() (Gains, error) { return GainsOf(o.Points[len(o.Points)-1].X) }

// Losses returns the fleet's mean loss at each point, see [FleetLoss].
func (o *Outcome) Losses(plates []Plate) ([]float64, error) {
	losses := make([]float64, len(o.Points))
	for i, p := range o.Points {
		g, err := GainsOf(p.X)
		if err != nil {
			return nil, err
		}
		losses[i] = FleetLoss(plates, g)
	}
	return losses, nil
}
