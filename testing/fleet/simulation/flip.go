package simulation

import (
	"io"
	"math"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/dirstore"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// flip changes a bit of the state in the checkpoint of a stopped device. The file's digest still
// matches, as if memory had failed before the write. Only the run can find the wrong bit, with its
// reference. At most one device of a seed has such a state, so that the correct devices are a
// plurality.
func (w *world) flip(*party) bool {
	var down *party
	for _, p := range w.parties {
		switch d := p.device; {
		case d == nil || d.objective == nil:
		case d.flipped:
			return false
		case p.p == nil && !d.ended && w.scenario.Stored:
			down = p
		}
	}
	if down == nil || w.rewrite(down) != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(nil, "a bit of the checkpoint of %s is wrong", down.name)
	down.device.flipped = true
	return true
}

// rewrite flips a bit of a parameter in a party's checkpoint.
func (w *world) rewrite(p *party) error {
	store, err := dirstore.Open(p.disk, storeDir)
	if err != nil {
		return err
	}
	defer store.Close()
	var r *replica.Replica
	var h replica.History
	err = store.Load("checkpoint", func(file *io.SectionReader) error {
		r, h, err = replica.Load(replica.Config{Run: scenario.RunName}, file, file.Size())
		return err
	})
	if err != nil {
		return err
	}
	x := r.Params()
	i := w.rng.IntN(len(x))
	x[i] = math.Float32frombits(math.Float32bits(x[i]) ^ 1<<w.rng.IntN(20))
	return store.Save("checkpoint", func(to io.Writer) error { return r.Save(to, h) })
}
