package mobile

import (
	"context"

	"github.com/zofl/zofl/client/objective"
)

// A Round is one evaluation that a [BlockObjective] is asked for: parameters and a
// minibatch. It is valid during the call that it was made for; from then on ReadParams
// fails with "revoked: ".
type Round struct {
	ctx   context.Context
	x     *objective.Point
	batch objective.Batch
}

// Dim is the number of parameters.
func (r *Round) Dim() int {
	if r == nil || r.x == nil {
		return 0
	}
	return r.x.Dim()
}

// Record is the index of the record that is being made.
func (r *Round) Record() int64 { return int64(r.batch.N) }

// Step is the local step, from 0.
func (r *Round) Step() int { return r.batch.Step }

// BatchSize is the number of samples that the loss shall be the mean over; 0 is all
// of this device's data.
func (r *Round) BatchSize() int { return r.batch.Size }

// BatchSeed seeds the draw of these samples: all evaluations of a step have the same
// one, and must be on the same samples. It is 64 bits, as a signed number.
func (r *Round) BatchSeed() int64 { return int64(r.batch.Seed) }

// Cancelled says whether the round is over: whatever Loss returns now is lost, so
// it may as well return.
func (r *Round) Cancelled() bool { return r == nil || r.ctx == nil || r.ctx.Err() != nil }

// ReadParams writes parameters off, off+1, ... into dst as little-endian float32, as
// many as fit and as there are, and returns how many. dst has a multiple of 4 bytes
// and stays the app's. Offsets that are multiples of 4096 are the fastest; large
// blocks cost fewer calls. In Objective-C give NSMutableData, as of NSData a copy would
// be written to; in Swift call Block.
//
//	for (long off = 0; off < r.dim(); off += n) {
//		n = r.readParams(off, block);
//		engine.load(off, block, n);
//	}
func (r *Round) ReadParams(off int, dst []byte) (n int, err error) {
	defer guard(&err)
	if r == nil || r.x == nil {
		return 0, coded(objective.ErrRevoked)
	}
	n, err = readInto(dst, off, r.x.Dim(), r.x.Read)
	return n, coded(err)
}

// Block returns a copy of parameters off, off+1, ..., count of them or as many as there
// are, or null where there is none, or the round is over. It is for Swift, whose Data
// comes to Go as a copy, so that what Go writes is lost; elsewhere ReadParams costs less.
func (r *Round) Block(off, count int) (params []byte) {
	defer contain()
	if r == nil || r.x == nil {
		return nil
	}
	return copied(off, count, r.x.Dim(), r.x.Read)
}
