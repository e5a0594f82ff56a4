package runlog

import (
	"errors"
	"fmt"
	"io"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/wire"
)

// A Base is the beginning of a log that lost its first records: the state of a device after record
// N. The log's records continue with N+1.
type Base struct {
	N       uint64    // last record that the state includes, at least 1
	Hash    wire.Hash // of record N
	Epoch   uint64    // of record N
	Rounds  uint64    // squares of scalars up to record N
	First   []byte    // record 1, the plan
	Plan    []byte    // a record 1 with the plan after record N; empty: no field has changed
	Digest  [8]byte   // of the state, as in a [wire.Reference]
	Size    int64     // bytes of the state file
	Content [32]byte  // SHA-256 of the state file
}

// Logs that may begin with a state implement Based.
type Based interface {
	// Base returns the state with which the log begins, or nil if the log begins with record 1.
	Base() *Base
	// State returns a reader of the base's state file, as docs/state.md specifies. Any goroutine may
	// call State.
	State() io.ReaderAt
}

// BaseOf returns the state with which a log begins, or nil if the log begins with record 1.
func BaseOf(log Log) *Base {
	if b, ok := log.(Based); ok {
		return b.Base()
	}
	return nil
}

// Start returns the index before the first record that can be read from a log: 0, unless the log
// begins with a state.
func Start(log Log) uint64 {
	if b := BaseOf(log); b != nil {
		return b.N
	}
	return 0
}

// ErrBelow: the log begins with a state, and the record is older than that state.
var ErrBelow = errors.New("the log begins with a later state")

// Tip returns the end of the chain that the base replaces.
func (b *Base) Tip() Chain { return Chain{N: b.N, Hash: b.Hash} }

// Position returns the position after record N. The error matches [ErrCorrupt].
func (b *Base) Position() (p Position, err error) {
	record := b.First
	if len(b.Plan) > 0 {
		record = b.Plan
	}
	began, err := wire.DecodeRecord(b.First)
	if err != nil {
		return p, fmt.Errorf("base: %w: %w", ErrCorrupt, err)
	}
	first, err := wire.DecodeRecord(record)
	if err == nil && first.Plan == nil {
		err = fmt.Errorf("record 1 is a %v", first.Kind)
	}
	if err == nil {
		err = plancheck.Validate(first.Plan)
	}
	if err != nil {
		return p, fmt.Errorf("base: %w: %w", ErrCorrupt, err)
	}
	pl := *first.Plan
	p = Position{Chain: b.Tip(), Begins: b.N, FirstEpoch: began.Epoch, LastEpoch: b.Epoch,
		Plan: pl, Rounds: b.Rounds}
	p.history.plans = []plan.Plan{pl}
	p.history.stretches = []stretch{{n: b.N, rounds: b.Rounds}}
	return p, nil
}
