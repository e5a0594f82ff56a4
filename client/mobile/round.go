package mobile

import (
	"context"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// A Round is one loss that a [BlockObjective] computes: parameters and a minibatch. It is valid
// during the call that receives it; after that its reads fail with "revoked: ".
type Round struct {
	ctx   context.Context
	x     *objective.Point
	batch objective.Batch
	plan  *Plan
}

// Dim is the number of parameters.
func (r *Round) Dim() int {
	if r == nil || r.x == nil {
		return 0
	}
	return r.x.Dim()
}

// Record is the index of the record that this round will make.
func (r *Round) Record() int64 { return int64(r.batch.N) }

// Step is the local step, from 0.
func (r *Round) Step() int { return r.batch.Step }

// BatchSize is the number of samples over which the loss is the mean, at most Samples and MaxBatch
// of the [Config]; 0 means all of this device's data.
func (r *Round) BatchSize() int { return r.batch.Size }

// BatchSeed is the seed for drawing these samples. All evaluations of a step have the same
// seed and must use the same samples. It is 64 bits, as a signed number.
func (r *Round) BatchSeed() int64 { return int64(r.batch.Seed) }

// Probe is the number of this loss among the losses of its local step, from 0. With central
// differences losses 2p and 2p+1 belong to perturbation p; with forward differences the first loss
// is at the model itself. Values that depend only on the minibatch need to be computed for loss 0
// alone.
func (r *Round) Probe() int {
	if r == nil || r.x == nil {
		return 0
	}
	return r.x.Index()
}

// Probes is how many losses the local step takes: 2P with P perturbations and central differences,
// 1+P with forward ones. With a surrogate it is first 1, and then the number of losses that the
// surrogate asks for around that point. While devices look for mu it is 1, and then 2 at a time.
func (r *Round) Probes() int {
	if r == nil || r.x == nil {
		return 0
	}
	return r.x.Count()
}

// Plan is the run's plan. It stays valid after the round.
func (r *Round) Plan() *Plan { return r.plan }

// Cancelled says whether the round is over: Loss may return early, because its result is
// discarded.
func (r *Round) Cancelled() bool { return r == nil || r.ctx == nil || r.ctx.Err() != nil }

// RemainingMilliseconds is how long the round still needs this loss; 0: no longer.
func (r *Round) RemainingMilliseconds() int64 {
	if r == nil {
		return 0
	}
	return remaining(r.ctx)
}

// ReadParams writes parameters off, off+1, ... into dst as little-endian float32, as many as fit
// and exist, and returns their number. The length of dst must be a multiple of 4 bytes; dst belongs
// to the app. Offsets that are multiples of 4096 are the fastest, and large blocks need fewer
// calls. In Objective-C pass NSMutableData, because Go gets a copy of an NSData; in Swift call
// Block.
//
//	for (long off = 0; off < r.dim(); off += n) {
//		n = r.readParams(off, block);
//		engine.load(off, block, n);
//	}
func (r *Round) ReadParams(off int, dst []byte) (n int, err error) {
	defer guard(&err)
	return r.write(floats, off, dst)
}

// ReadHalf is ReadParams in IEEE 754 binary16, little-endian, 2 bytes a parameter, for engines that
// take float16. Each parameter is rounded to the nearest number, to the even one of two; from 65520
// on it becomes infinite. The length of dst is a multiple of 2 bytes.
func (r *Round) ReadHalf(off int, dst []byte) (n int, err error) {
	defer guard(&err)
	return r.write(halves, off, dst)
}

// ReadInt8 is ReadParams in signed bytes, one a parameter, for engines that take int8. Each is
// x/scale, rounded to the nearest integer, to the even one of two, and limited to -127..127. The
// scale is a positive finite number; 127*scale is the largest parameter that is not cut.
//
//	dst[i] = min(max(round(x[off+i]/scale), -127), 127)
func (r *Round) ReadInt8(off int, scale float64, dst []byte) (n int, err error) {
	defer guard(&err)
	return r.write(multiples(scale), off, dst)
}

// write writes parameters off, off+1, ... into dst in a form.
func (r *Round) write(as form, off int, dst []byte) (int, error) {
	if r == nil || r.x == nil {
		return 0, coded(objective.ErrRevoked)
	}
	n, err := as.read(dst, off, r.x.Dim(), r.x.Read)
	return n, coded(err)
}

// Block returns a copy of parameters off, off+1, ...: count of them, or as many as exist, at most
// [MaxBlock]. It returns null if there are none or the round is over. It is for Swift, which passes
// Go a copy of its Data: whatever Go writes there is lost. Elsewhere ReadParams costs less.
func (r *Round) Block(off, count int) (params []byte) {
	defer contain()
	if r == nil || r.x == nil {
		return nil
	}
	return copyOf(off, count, r.x.Dim(), r.x.Read)
}

// remaining returns the milliseconds until a context ends, 0 if that is not known.
func remaining(ctx context.Context) int64 {
	if ctx == nil || ctx.Err() != nil {
		return 0
	}
	end, _ := ctx.Deadline()
	return max(0, time.Until(end).Milliseconds())
}
