package book

import (
	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/subjects"
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
