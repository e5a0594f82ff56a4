package book

import (
	"math"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// With secure=sum the network sees no contribution alone. The book knows which devices sent masked
// scalars, and whom these reached. The sum shows which devices are in it.

// Masked notes a step of secure aggregation that a device sends.
func (b *Book) Masked(p Process, id string, frame []byte) {
	r, err := secagg.DecodeRequest(frame)
	if err != nil {
		b.world.Find("frames decode", "%v: step: %v", p, err)
		return
	}
	b.world.Count("masked " + r.Step.String())
	b.unmasks(p, id, &r)
	if r.Step != secagg.StepMask || r.N < 2 || r.N-1 > uint64(len(b.chain)) {
		return
	}
	if a := b.masked(id, &r); b.made[a] == nil {
		b.made[a] = map[uint64]bool{}
	}
}

// masked is the contribution that a device adds to a sum.
func (b *Book) masked(id string, r *secagg.Request) answer {
	return answer{device: id, n: r.N, tip: b.chain[r.N-2].hash.Tip()}
}

// cameMasked notes that a step reaches a coordinator.
func (b *Book) cameMasked(to Process, m *bus.Message) {
	r, err := secagg.DecodeRequest(m.Data)
	if err != nil || r.Step != secagg.StepMask || r.N < 2 || r.N-1 > uint64(len(b.chain)) {
		return
	}
	made := b.made[b.masked(subjects.ID(m.Subject), &r)]
	for epoch, p := range b.begun {
		if made != nil && p == to {
			made[epoch] = true
		}
	}
}

// masks is what the book knows of secure aggregation beside contributions.
type masks struct {
	unmasked map[string]secagg.Request // by device: the last attempt that it helped to unmask
	sums     int                       // masked sums with noise
	square   float64                   // of their noise, each in units of its deviation
}

// unmasks checks that a device helps to unmask one attempt at a record: the sums of two attempts
// could differ by the scalars of one device.
func (b *Book) unmasks(p Process, id string, r *secagg.Request) {
	if r.Step != secagg.StepUnmask || !b.scenario.Stored {
		return
	}
	was := b.masks.unmasked[id]
	if was.N == r.N && was.Nonce != r.Nonce && r.N > b.gone {
		b.world.Find("a device unmasks a record once", "%v: record %d, in two attempts", p, r.N)
	}
	b.masks.unmasked[id] = *r
}

// maskedSum finds the devices of a masked sum, and checks the sum's noise. mean is the mean of the
// devices' slopes, with noise if the plan has some.
func (b *Book) maskedSum(r *wire.Record, p *plan.Plan, mean float64) ([]int, bool) {
	b.world.Count("masked sum")
	found, off, ok := b.scenario.Near(mean, int(r.Round.Contributors))
	if ok && p.DPOf == dpnoise.OfSum {
		b.noise(r, p, off)
	}
	return found, ok
}

// silence is how improbable the noise of a run may be.
const silence = 1e-9

// noise checks that the devices of a run's sums did add noise: each its share, so that a sum has at
// least the noise of a quorum. A squared noise in units of its variance is 1 in the mean. The noise
// of k sums has a mean square of at most x < 1 with a probability of at most (x exp(1-x))^(k/2).
func (b *Book) noise(r *wire.Record, p *plan.Plan, off float64) {
	deviation := float64(p.DPNoise) * float64(p.DPClip) *
		math.Sqrt(float64(r.Round.Contributors)/float64(p.Quorum))
	m, away := &b.masks, math.Abs(off/deviation)
	m.sums++
	m.square += away * away
	b.world.Count("noise of a sum")
	if away > 1 {
		b.world.Count("noise beyond a deviation")
	}
	k := float64(m.sums)
	if x := m.square / k; x < 1 && k/2*(math.Log(x)+1-x) < math.Log(silence) {
		b.world.Find("a sum has the noise of a quorum", "record %d: the noise of %d sums has %.2g "+
			"of its deviation", r.N, m.sums, math.Sqrt(x))
	}
}
