package mobile

import (
	"context"
	"math"
	"sync"

	"github.com/zofl/zofl/client/objective"
)

// A BatchObjective is the app's loss for engines that take several sets of weights at once, or load
// weights slowly: one call computes all losses of a local step.
type BatchObjective interface {
	// Losses calls p.SetLoss for each probe of p. Threads and errors are as for [Objective]; a
	// probe without a loss costs the round, too.
	Losses(p *Probes) error
}

// Probes are the parameters at which a [BatchObjective] computes losses, all on one minibatch. They
// are valid during the call that receives them; after that reads fail with "revoked: ". They are
// numbered from 0 to Count-1.
type Probes struct {
	ctx   context.Context
	x     *objective.Points
	batch objective.Batch
	plan  *Plan

	mu     sync.Mutex    // guards what follows
	losses []float64     // nil: the call is over
	lists  [][][]float32 // slices of Count nil elements, for reads to reuse
}

// Count is the number of probes, 2P in a round of P perturbations with central differences and 1+P
// with forward ones.
func (p *Probes) Count() int {
	if p == nil || p.x == nil {
		return 0
	}
	return p.x.Len()
}

// Dim is the number of parameters.
func (p *Probes) Dim() int {
	if p == nil || p.x == nil {
		return 0
	}
	return p.x.Dim()
}

// Record is the index of the record that this round will make.
func (p *Probes) Record() int64 { return int64(p.batch.N) }

// Step is the local step, from 0.
func (p *Probes) Step() int { return p.batch.Step }

// BatchSize is like [Round]'s.
func (p *Probes) BatchSize() int { return p.batch.Size }

// BatchSeed is like [Round]'s.
func (p *Probes) BatchSeed() int64 { return int64(p.batch.Seed) }

// Plan is the run's plan. It stays valid after the call.
func (p *Probes) Plan() *Plan { return p.plan }

// Cancelled says whether the round is over: return early, because the losses are discarded.
func (p *Probes) Cancelled() bool { return p == nil || p.ctx == nil || p.ctx.Err() != nil }

// RemainingMilliseconds is how long the round still needs these losses; 0: no longer.
func (p *Probes) RemainingMilliseconds() int64 {
	if p == nil {
		return 0
	}
	return remaining(p.ctx)
}

// ReadParams is like [Round]'s, for one probe. If you read all probes, ReadAll costs less.
func (p *Probes) ReadParams(probe, off int, dst []byte) (n int, err error) {
	defer guard(&err)
	return p.write(floats, probe, off, dst)
}

// ReadHalf is like [Round]'s, for one probe.
func (p *Probes) ReadHalf(probe, off int, dst []byte) (n int, err error) {
	defer guard(&err)
	return p.write(halves, probe, off, dst)
}

// ReadInt8 is like [Round]'s, for one probe.
func (p *Probes) ReadInt8(probe, off int, scale float64, dst []byte) (n int, err error) {
	defer guard(&err)
	return p.write(multiples(scale), probe, off, dst)
}

// write writes parameters off, off+1, ... of a probe into dst in a form.
func (p *Probes) write(as form, probe, off int, dst []byte) (int, error) {
	if err := p.check(probe); err != nil {
		return 0, err
	}
	n, err := as.read(dst, off, p.x.Dim(), p.one(probe))
	return n, coded(err)
}

// Block is like [Round]'s, for one probe.
func (p *Probes) Block(probe, off, count int) (params []byte) {
	defer contain()
	if p.check(probe) != nil {
		return nil
	}
	return copyOf(off, count, p.x.Dim(), p.one(probe))
}

// one returns a function that reads one probe.
func (p *Probes) one(probe int) func(to []float32, off int) error {
	return func(to []float32, off int) error {
		all := p.list()
		all[probe] = to
		defer p.leave(all)
		return p.x.Read(all, off)
	}
}

// list returns a slice with a nil element for each probe. Reads give the slice back with leave, so
// that many reads, also of several threads of the app, allocate little.
func (p *Probes) list() [][]float32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.lists) - 1
	if last < 0 {
		return make([][]float32, p.x.Len())
	}
	all := p.lists[last]
	p.lists = p.lists[:last]
	return all
}

func (p *Probes) leave(all [][]float32) {
	clear(all)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lists = append(p.lists, all)
}

// ReadAll writes parameters off, off+1, ... of all probes into dst as little-endian float32: for
// each probe count parameters, or as many as exist. It returns how many of each. Each direction is
// generated once, for all probes. dst has 4*count*Count bytes, count parameters for each probe:
//
//	for i := range p.Count() {
//		for j := range n {
//			dst[4*(i*count+j):] = x[i][off+j]
//		}
//	}
func (p *Probes) ReadAll(off, count int, dst []byte) (n int, err error) {
	defer guard(&err)
	if err := p.check(0); err != nil {
		return 0, err
	}
	probes, dim := p.x.Len(), p.x.Dim()
	switch {
	case count < 1 || count > dim || len(dst) != floatBytes*count*probes:
		return 0, faultf(CodeConfig, "dst has %d bytes: give 4*count*%d of them, with count from 1 "+
			"to %d; it is %d", len(dst), probes, dim, count)
	case off < 0 || off > dim:
		return 0, faultf(CodeConfig, "off = %d: parameters are numbered from 0 to %d", off, dim-1)
	}
	if n = min(count, dim-off); n == 0 {
		return 0, nil
	}
	x, all := floatsOf(dst), p.list()
	defer p.leave(all)
	aligned := x != nil
	if !aligned {
		x = getFloats(dst) // if n < count, the rest of dst keeps its bytes
	}
	for i := range all {
		all[i] = x[i*count:][:n]
	}
	if err := p.x.Read(all, off); err != nil {
		return 0, coded(err)
	}
	if !aligned {
		putFloats(dst, x)
	}
	return n, nil
}

// SetLoss sets the mean loss at a probe.
func (p *Probes) SetLoss(probe int, loss float64) (err error) {
	defer guard(&err)
	if err := p.check(probe); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.losses == nil {
		return coded(objective.ErrRevoked)
	}
	p.losses[probe] = loss
	return nil
}

// check returns an error unless a probe has this number.
func (p *Probes) check(probe int) error {
	switch {
	case p == nil || p.x == nil:
		return coded(objective.ErrRevoked)
	case probe < 0 || probe >= p.x.Len():
		return faultf(CodeConfig, "probe = %d: probes are numbered from 0 to %d", probe, p.x.Len()-1)
	}
	return nil
}

// end invalidates the probes, and returns their losses.
func (p *Probes) end() []float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	losses := p.losses
	p.losses = nil
	return losses
}

// batches is an objective in batch mode.
type batches struct{ *device }

var _ objective.Batched = batches{}

func (b batches) LossesAt(ctx context.Context, x *objective.Points, batch objective.Batch,
	losses []float64,
) error {
	o := held(b.callbacks, func() BatchObjective { return b.byBatches })
	if o == nil {
		return errReleased
	}
	// A thread of the app may set losses after the call, so Probes has memory of its own for losses.
	p := &Probes{ctx: ctx, x: x, batch: batch, plan: b.seen.Load(),
		losses: make([]float64, len(losses))}
	for i := range p.losses {
		p.losses[i] = math.NaN()
	}
	defer p.end() // also after a panic
	err := said(o.Losses(p))
	copy(losses, p.end())
	return err
}
