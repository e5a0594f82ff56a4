// Package retry says how long a device waits before it asks again, and which errors end Run because
// waiting does not cure them. The package does not know the content of requests.
package retry

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/bus"
)

// ErrRecorder marks an error that the app's Recorder returned. An ErrRecorder ends Run.
var ErrRecorder = errors.New("recorder")

// Final says whether an error means that this device cannot go on with the run, without asking
// again. A claim is final once the device believes it: see [Doubt].
func Final(err error) bool {
	for _, final := range []error{ErrRecorder, bus.ErrClosed, bus.ErrPermission,
		bus.ErrSubscriptions, bus.ErrTooLong} {
		if errors.Is(err, final) {
			return true
		}
	}
	return errors.As(err, new(*believed))
}

// Pauses draws the pauses of one device at random, so that devices do not ask at the same time.
// Only one goroutine may use a Pauses.
type Pauses struct {
	Max    time.Duration // the longest pause between attempts
	random *rand.Rand
}

// NewPauses returns the pauses of the device with an id.
func NewPauses(id string, most time.Duration) *Pauses {
	return &Pauses{Max: most, random: NewRandom(id)}
}

// First returns the bound of the first pause. Each later bound is twice the bound before, up to
// Max.
func (p *Pauses) First() time.Duration { return p.Max / 32 }

// Next returns the bound of the pause after a pause with the given bound.
func (p *Pauses) Next(bound time.Duration) time.Duration { return min(2*bound, p.Max) }

// Jitter draws a pause uniformly below most.
func (p *Pauses) Jitter(most time.Duration) time.Duration {
	return time.Duration(p.random.Int64N(int64(most)))
}

// Sleep waits for d. If ctx ends first, Sleep returns the cause of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// NewRandom returns a generator for delays that must differ between devices. The generator's seed
// is the id and the time. So in a simulation with a faked clock, the delays are the same in each
// run.
func NewRandom(id string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(id))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(time.Now().UnixNano())))
}
