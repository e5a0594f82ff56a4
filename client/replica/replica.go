package replica

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/replica/internal/evolution"
	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/client/replica/internal/server"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Errors that a caller branches on. After each of these errors the state is unchanged.
var (
	// ErrOrder: the record is not the next record of the log. Fetch the records in between.
	ErrOrder = errors.New("replica: record out of order")
	// ErrFork: the record does not follow the last record that this replica applied. Either the
	// replica's log or the record's log is not the log of this run: start again from record 1.
	ErrFork = errors.New("replica: record does not follow this log")
	// ErrDim: the plan is for another number of parameters.
	ErrDim = errors.New("replica: wrong number of parameters")
	// ErrInitial: the given parameters do not match the plan's InitialDigest, or a parameter is
	// outside its box.
	ErrInitial = errors.New("replica: wrong initial parameters")
	// ErrEnded: the run has ended; no record can follow.
	ErrEnded = errors.New("replica: run has ended")
	// ErrRollback: the record returns to an earlier state. Replay the log up to the record's To into a
	// new replica, [Replica.Skip] the records in between, then apply the rollback.
	ErrRollback = errors.New("replica: rollback")
)

// A DimError is an [ErrDim] with the plan's number of parameters and the model's.
type DimError struct{ Plan, Model uint64 }

func (e *DimError) Error() string {
	return fmt.Sprintf("%v: the plan has %d, this model %d", ErrDim, e.Plan, e.Model)
}

func (e *DimError) Unwrap() error { return ErrDim }

// Config names the run and the model of a replica.
type Config struct {
	// Run is the name of the run. Record 1 must belong to this run.
	Run string
	// Dim is the number of parameters that the plan must have; 0 accepts any.
	Dim uint64
	// Initial are the parameters for a plan with initial=given. Other plans do not use them. The
	// replica copies them when it applies record 1. The replica refuses the parameters with
	// [ErrInitial] if a parameter is outside its box. (Parameters that the plan seeds are clipped
	// instead.)
	Initial []float32
	// ReadInitial gives the same parameters as Initial, but the caller holds no vector of them:
	// ReadInitial sets all elements of x, which become the replica's own. The replica calls
	// ReadInitial when it applies record 1, and Load calls it to compare the parameters with the
	// plan's digest. An error of ReadInitial matches [ErrInitial] then. Set Initial or ReadInitial.
	ReadInitial func(x []float32) error
	// RunKey is the secret of a run whose plan has no public run key: 32 bytes, the same for all
	// devices of the run. Other runs do not use it.
	RunKey []byte
	// Check judges each plan before the replica allocates memory for it: the plan of record 1, after a
	// change, or of a state file. Apply and Load return the error of Check. With a nil Check the
	// replica accepts all valid plans.
	Check func(*plan.Plan) error
	// Workers is how many goroutines Apply, Advance, Perturb and Digest may use for a large model.
	// With 0 or 1 these methods use only the caller's goroutine. The resulting bits are the same for
	// any number of workers. Each worker takes a few blocks of memory.
	Workers int
}

// gives says whether c has initial parameters.
func (c *Config) gives() bool { return c.Initial != nil || c.ReadInitial != nil }

// give sets x to the initial parameters. The error matches [ErrInitial] if they are not the plan's.
func (c *Config) give(p *plan.Plan, x []float32) error {
	switch {
	case c.ReadInitial != nil:
		if err := c.ReadInitial(x); err != nil {
			return fmt.Errorf("%w: %w", ErrInitial, err)
		}
	case uint64(len(c.Initial)) != p.Dim:
		return fmt.Errorf("%w: the plan's run starts from %d given parameters, this device gives %d",
			ErrInitial, p.Dim, len(c.Initial))
	default:
		copy(x, c.Initial)
	}
	return checkGiven(p, x)
}

// judge calls Check.
func (c *Config) judge(p *plan.Plan) error {
	if c.Check == nil {
		return nil
	}
	return c.Check(p)
}

// A Replica is the state of a run after some record.
//
// Invariants:
//  1. The state depends only on the records applied and, if the plan asks for it, on
//     Config.Initial.
//  2. A method that returns an error has not changed the state, except ApplyAll: it has applied the
//     records before the faulty record.
//  3. A vector is empty unless the plan needs the vector; [plan.Plan.StateVectors] counts the
//     vectors that are not empty.
//  4. Every record that the replica has applied or skipped names the hash of the record before it
//     in the log.
type Replica struct {
	cfg        Config
	n          uint64
	hash       wire.Hash
	passed     link      // last record skipped since n
	first      []byte    // record 1
	plan       plan.Plan // with all changes so far
	transport  transport // the plan's
	generator  generator // of its directions
	factors    *factors  // LowRank
	afterRound []func()  // called after each round, as the plan needs
	rounds     uint64    // rounds applied
	epoch      uint64
	ended      *wire.End

	// The state: vectors of d elements, and the values that registers returns.
	x, m         []float32
	control      []float32 // ScaffoldMean: S
	server       server.State
	running      server.Running   // of ServerNormalized
	basis, trail [][]float32      // Subspace: Q, and the last moves
	evolution    *evolution.State // of ServerCMA, and its vectors
	learned      [][]float32
	population   uint32  // ScaffoldMean: N
	pending      pending // ScaffoldPoint, Surrogate: phase 1
	pool         *pool

	// With transport=dense, control is c of scaffold-1 or of scaffold-2.
	w       []float32 // Surrogate
	objects [kinds]objectState
	whole   uint64

	segments layout.Spans
	runKey   []byte
	keys     *prng.Keyring
	keyN     uint64 // record whose key is cached; 0: none
	key      prng.Key
	poolKey  prng.Key

	// Scratch.
	crew
	record wire.Record // the record being applied
}

// A link is a place in the log after the state: the last record that Skip passed, or none if n is
// 0.
type link struct {
	n    uint64
	hash wire.Hash
}

// New returns a replica of a run before its first record.
func New(cfg Config) *Replica {
	r := &Replica{cfg: cfg, hash: wire.Genesis(cfg.Run)}
	r.makeTeam()
	return r
}

// N returns the index of the last record applied, 0 before the first.
func (r *Replica) N() uint64 { return r.n }

// Hash returns the hash of the last record applied.
func (r *Replica) Hash() wire.Hash { return r.hash }

// Epoch returns the epoch of the last record applied.
func (r *Replica) Epoch() uint64 { return r.epoch }

// Rounds returns the number of the last round applied, 0 before the first.
func (r *Replica) Rounds() uint64 { return r.rounds }

// Ended returns how the run ended once the replica has applied the run's last record, nil before.
func (r *Replica) Ended() *wire.End { return r.ended }

// Plan returns the plan as changed so far, nil before record 1. The caller
// must not change it.
func (r *Replica) Plan() *plan.Plan {
	if r.n == 0 {
		return nil
	}
	return &r.plan
}

// PlanRecord returns record 1 as the log holds it, nil before record 1. The caller must not change
// it.
func (r *Replica) PlanRecord() []byte { return r.first }

// Params returns the d parameters after the last record. While an object is missing, Params returns
// the parameters that [Replica.Whole] describes. The parameters belong to the replica: they are
// valid until the next Apply or Supply, and the caller must not change them.
func (r *Replica) Params() []float32 { return r.x }

// Momentum returns the momentum vector after the last record, valid as long as Params. The vector
// is empty for a rule without momentum, and with transport=dense, where each device keeps its own
// momentum.
func (r *Replica) Momentum() []float32 { return r.m }

// Apply applies the next record of the log, in its encoded form. Once Apply has applied a round, it
// allocates nothing for further rounds with as many terms. With transport=dense, the object of the
// round is missing afterwards: [Replica.Supply] it, or the object of a later round.
//
// Errors: [ErrOrder], [ErrFork], [ErrEnded], [ErrRollback]. For record 1 also [ErrDim],
// [ErrInitial], plan.ErrRunKey, a *plan.Error and the error of Config.Check. For a record that
// cannot be decoded, a *wire.DecodeError.
func (r *Replica) Apply(record []byte) error {
	if err := r.add(record); err != nil {
		return err
	}
	r.flush()
	return nil
}

// ApplyAll applies the next records of the log. The result has the same bits as applying one record
// after another. For many records ApplyAll is faster than Apply, because a block of the vectors
// stays in the CPU's cache for many rounds.
//
//	for ; applied < len(records); applied++ {
//		if err := r.Apply(records[applied]); err != nil {
//			return applied, err
//		}
//	}
//
// ApplyAll returns the error of Apply. After an error the state is the state after the records that
// ApplyAll has applied.
func (r *Replica) ApplyAll(records [][]byte) (applied int, err error) {
	for applied < len(records) && err == nil {
		if err = r.add(records[applied]); err == nil {
			applied++
		}
	}
	r.flush()
	return applied, err
}

// add applies a record, except that flush later makes the changes of a round to the vectors.
func (r *Replica) add(record []byte) error {
	rec := &r.record
	if err := rec.Decode(record); err != nil {
		return err
	}
	if err := r.follows(rec); err != nil {
		return err
	}
	var err error
	switch rec.Kind {
	case wire.KindPlan:
		if err = r.begin(rec.Plan); err == nil {
			r.first = bytes.Clone(record)
		}
	case wire.KindRound:
		err = r.addRound(rec.N, rec.Round)
	case wire.KindChange:
		r.flush() // with the plan under which the pending rounds were made
		err = r.change(rec.Change)
	case wire.KindEnd:
		r.ended = rec.End
	}
	if err != nil {
		return fmt.Errorf("replica: record %d: %w", rec.N, err)
	}
	r.n, r.hash, r.epoch, r.passed = rec.N, wire.HashRecord(record), rec.Epoch, link{}
	r.settle()
	return nil
}

// Skip checks that a record is the next record of the log, and skips the record: the state, N and
// Hash do not change. After skipped records, Apply accepts a rollback to N that follows them. A
// call of Skip or Apply with record N+1 discards the records skipped before.
//
// Errors: [ErrOrder], [ErrFork], [ErrEnded], and a *wire.DecodeError.
func (r *Replica) Skip(record []byte) error {
	rec, err := wire.DecodeRecord(record)
	if err != nil {
		return err
	}
	if err := r.continues(&rec); err != nil {
		return err
	}
	r.passed = link{rec.N, wire.HashRecord(record)}
	return nil
}

// continues returns an error unless rec is the next record of the log.
func (r *Replica) continues(rec *wire.Record) error {
	at := link{r.n, r.hash}
	if r.passed.n != 0 && rec.N != r.n+1 {
		at = r.passed
	}
	switch {
	case r.ended != nil:
		return ErrEnded
	case rec.N != at.n+1:
		return fmt.Errorf("%w: have %d, got %d", ErrOrder, at.n, rec.N)
	case rec.Kind == wire.KindPlan && rec.Plan.Run != r.cfg.Run:
		return r.otherRun(rec.Plan)
	case rec.Prev != at.hash:
		return fmt.Errorf("%w: record %d", ErrFork, rec.N)
	}
	return nil
}

// follows returns an error unless Apply can apply rec now.
func (r *Replica) follows(rec *wire.Record) error {
	if err := r.continues(rec); err != nil {
		return err
	}
	switch {
	case rec.Kind == wire.KindRollback && rec.To != r.n:
		return fmt.Errorf("%w: from record %d to %d", ErrRollback, rec.N, rec.To)
	case rec.Kind != wire.KindRollback && rec.N != r.n+1:
		return fmt.Errorf("%w: the state is that of record %d, records up to %d were passed",
			ErrOrder, r.n, r.passed.n)
	}
	return nil
}

func (r *Replica) otherRun(p *plan.Plan) error {
	return &plan.Error{Field: "run", Value: p.Run,
		Remedy: fmt.Sprintf("this replica is of run %q: join the run that the plan is of", r.cfg.Run)}
}

// begin applies record 1.
func (r *Replica) begin(p *plan.Plan) error {
	switch err := valid.Plan(p); {
	case err != nil:
		return err
	case r.cfg.Dim != 0 && p.Dim != r.cfg.Dim:
		return &DimError{Plan: p.Dim, Model: r.cfg.Dim}
	case p.Dim > maxDim:
		return fmt.Errorf("%w: %d do not fit this machine's memory", ErrDim, p.Dim)
	}
	runKey, err := p.Key(r.cfg.RunKey)
	if err == nil {
		err = r.cfg.judge(p)
	}
	if err != nil {
		return err
	}
	x, err := r.cfg.initial(p, runKey)
	if err != nil {
		return err
	}
	r.allocate(p, runKey, x)
	return nil
}

func (r *Replica) change(c *plan.Change) error {
	p := r.plan
	c.Apply(&p)
	if err := valid.Plan(&p); err != nil {
		return err
	}
	if err := r.cfg.judge(&p); err != nil {
		return err
	}
	r.plan, r.hasScratch = p, false
	if r.evolution != nil {
		r.resize(c)
	}
	return nil
}
