// Package replica is the model of a Zofl run as a pure replay of its log:
// state(n) = Apply(state(n-1), record n).
//
// The client keeps one; so does whoever wants the model without taking part.
// It starts no goroutine, reads no clock and does no input or output.
//
// # Determinism
//
// Replicas that applied the same records have the same bits on every CPU and
// operating system: every product is rounded before it is added, sums have one
// written order, and nothing calls a function whose last bit is a matter of
// taste. [Replica.Digest] says it in 32 bytes.
package replica

import (
	"errors"
	"fmt"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Errors that a caller branches on. None of them changes the state.
var (
	// ErrOrder: the record is not the next one. Fetch those between.
	ErrOrder = errors.New("replica: record out of order")
	// ErrFork: the record does not follow the record that this replica
	// applied last. One of the two logs is not the run's: start again from
	// record 1.
	ErrFork = errors.New("replica: record does not follow this log")
	// ErrDim: the plan is for another number of parameters.
	ErrDim = errors.New("replica: wrong number of parameters")
	// ErrInitial: the given parameters are not those that the plan names.
	ErrInitial = errors.New("replica: wrong initial parameters")
	// ErrEnded: the run has ended, no record can follow.
	ErrEnded = errors.New("replica: run has ended")
	// ErrRollback: the record returns to an earlier state. Replay the log up
	// to the record's To into a new replica, then apply the record to it.
	ErrRollback = errors.New("replica: rollback")
)

// Config says what a replica is of.
type Config struct {
	// Run is the name of the run; its first record must belong to it.
	Run string
	// Dim is the number of parameters that the plan must have; 0 accepts any.
	Dim uint64
	// Initial are the parameters of a plan whose Initial is given. They are
	// copied when record 1 is applied. Unused, and may be nil, for others.
	Initial []float32
}

// A Replica is the state of a run after some record.
//
// Invariants:
//  1. The state is a function of the records applied, and of Config.Initial
//     where the plan asks for it, alone.
//  2. A method that returns an error has changed nothing.
//  3. m is empty unless the plan's rule has momentum.
type Replica struct {
	cfg    Config
	n      uint64
	hash   wire.Hash
	plan   wire.Plan // with all changes so far
	rounds uint64    // rounds applied
	epoch  uint64
	ended  *wire.End

	x, m  []float32
	spans []span

	// Scratch.
	terms  []prng.Term
	buffer [prng.BlockLen]float32
	keyN   uint64 // record that key is of, 0 for none
	key    prng.Key
}

// New returns a replica of a run before its first record.
func New(cfg Config) *Replica {
	return &Replica{cfg: cfg, hash: wire.Genesis(cfg.Run)}
}

// N returns the index of the last record applied, 0 before the first.
func (r *Replica) N() uint64 { return r.n }

// Hash returns the hash of the last record applied.
func (r *Replica) Hash() wire.Hash { return r.hash }

// Epoch returns the epoch of the last record applied.
func (r *Replica) Epoch() uint64 { return r.epoch }

// Rounds returns the number of the last round applied, 0 before the first.
func (r *Replica) Rounds() uint64 { return r.rounds }

// Ended returns the end of the run once its record was applied, nil before.
func (r *Replica) Ended() *wire.End { return r.ended }

// Plan returns the plan as changed so far, nil before record 1. The caller
// must not change it.
func (r *Replica) Plan() *wire.Plan {
	if r.n == 0 {
		return nil
	}
	return &r.plan
}

// Params returns the d parameters after the last record. They are the
// replica's own: valid until the next Apply, and not to be changed.
func (r *Replica) Params() []float32 { return r.x }

// Momentum returns the momentum vector after the last record, empty for a rule
// without one, under the same terms as Params.
func (r *Replica) Momentum() []float32 { return r.m }

// Apply applies the next record of the log, as encoded.
//
// Errors: [ErrOrder], [ErrFork], [ErrEnded], [ErrRollback]; of record 1 also
// [ErrDim], [ErrInitial] and a *wire.PlanError; wire.ErrUpgrade and the other
// faults of a *wire.DecodeError.
func (r *Replica) Apply(record []byte) error {
	rec, err := wire.DecodeRecord(record)
	if err != nil {
		return err
	}
	if err := r.follows(&rec); err != nil {
		return err
	}
	switch rec.Kind {
	case wire.KindPlan:
		err = r.begin(rec.Plan)
	case wire.KindRound:
		err = r.round(rec.N, rec.Round)
	case wire.KindChange:
		err = r.change(rec.Change)
	case wire.KindEnd:
		r.ended = rec.End
	}
	if err != nil {
		return fmt.Errorf("replica: record %d: %w", rec.N, err)
	}
	r.n, r.hash, r.epoch = rec.N, wire.HashRecord(record), rec.Epoch
	return nil
}

// follows says whether rec can be applied now.
func (r *Replica) follows(rec *wire.Record) error {
	switch {
	case r.ended != nil:
		return ErrEnded
	case rec.Kind == wire.KindRollback && rec.To == r.n:
		return nil // a rollback to the present state only moves the position
	case rec.N != r.n+1:
		return fmt.Errorf("%w: have %d, got %d", ErrOrder, r.n, rec.N)
	case rec.Prev != r.hash:
		return fmt.Errorf("%w: record %d", ErrFork, rec.N)
	case rec.Kind == wire.KindRollback:
		return fmt.Errorf("%w: from record %d to %d", ErrRollback, rec.N, rec.To)
	}
	return nil
}

// begin applies record 1.
func (r *Replica) begin(p *wire.Plan) error {
	switch err := p.Validate(); {
	case err != nil:
		return err
	case p.Run != r.cfg.Run:
		return &wire.PlanError{Field: "run", Value: p.Run, Remedy: "join the run that the plan is of"}
	case r.cfg.Dim != 0 && p.Dim != r.cfg.Dim:
		return fmt.Errorf("%w: the plan has %d, this model %d", ErrDim, p.Dim, r.cfg.Dim)
	case p.Dim > maxDim:
		return fmt.Errorf("%w: %d do not fit this machine's memory", ErrDim, p.Dim)
	}
	x, err := initial(p, r.cfg.Initial)
	if err != nil {
		return err
	}
	r.plan, r.x, r.spans = *p, x, layout(p)
	if p.Rule != wire.SGD {
		r.m = make([]float32, len(x))
	}
	return nil
}

func (r *Replica) change(c *wire.Change) error {
	p := r.plan
	c.Apply(&p)
	if err := p.Validate(); err != nil {
		return err
	}
	r.plan = p
	return nil
}

// round applies the recursion of DeComFL's Algorithm 4, lines 3-10, block by
// block: elements do not depend on each other.
func (r *Replica) round(n uint64, round *wire.Round) error {
	if err := r.checkRound(round); err != nil {
		return err
	}
	steps, p := int(r.plan.Steps), int(round.Perturbations)
	scalars := round.Terms[0].Scalars
	terms := r.growTerms(steps * p)
	for k := range steps {
		r.fillTerms(terms[k*p:(k+1)*p], n, k, func(i int) float32 { return scalars.At(k*p + i) })
	}
	for start := 0; start < len(r.x); start += prng.BlockLen {
		x, m := r.block(r.x, start), r.block(r.m, start)
		for k := range steps {
			r.step(x, m, start, terms[k*p:(k+1)*p], round.Step)
		}
	}
	r.rounds = round.Round
	return nil
}

// checkRound refuses a round that this plan cannot have made.
func (r *Replica) checkRound(round *wire.Round) error {
	switch {
	case !(round.Step > 0):
		return fmt.Errorf("step %v: %w", round.Step, wire.ErrValue)
	case round.Perturbations == 0:
		return fmt.Errorf("perturbations 0: %w", wire.ErrValue)
	case len(round.Terms) != 1 || round.Terms[0].Back != 0 || round.Terms[0].Source != prng.Shared:
		return fmt.Errorf("terms other than the mean along shared directions: %w", wire.ErrValue)
	case round.Terms[0].Scalars.Len() != int(r.plan.Steps)*int(round.Perturbations):
		return fmt.Errorf("%d scalars for %d steps of %d perturbations: %w",
			round.Terms[0].Scalars.Len(), r.plan.Steps, round.Perturbations, wire.ErrValue)
	}
	return nil
}

// Advance moves a local iterate x with momentum m (empty for a rule without
// one) by local step k of record n along the scalars g of its perturbations,
// as the device itself estimated them: DeComFL, Algorithm 4, line 21, or
// (8)-(9). With the mean scalars it is what Apply does.
func (r *Replica) Advance(x, m []float32, n uint64, k int, g []float32, eta float32) {
	terms := r.growTerms(len(g))
	r.fillTerms(terms, n, k, func(i int) float32 { return g[i] })
	for start := 0; start < len(x); start += prng.BlockLen {
		r.step(r.block(x, start), r.block(m, start), start, terms, eta)
	}
}

// fillTerms sets terms[i] to (g(i)/P) z_i: z_i is perturbation i of step k.
func (r *Replica) fillTerms(terms []prng.Term, n uint64, k int, g func(int) float32) {
	for i := range terms {
		terms[i] = prng.Term{A: g(i) / float32(len(terms)), Z: r.Direction(n, k, i)}
	}
}

func (r *Replica) growTerms(n int) []prng.Term {
	if cap(r.terms) < n {
		r.terms = make([]prng.Term, n)
	}
	return r.terms[:n]
}

func (r *Replica) block(v []float32, start int) []float32 {
	if len(v) == 0 {
		return nil
	}
	return v[start:min(start+prng.BlockLen, len(v))]
}

// step is one local step of one block: v = sum of terms (+ decay x), then the
// rule.
func (r *Replica) step(x, m []float32, start int, terms []prng.Term, eta float32) {
	v := r.buffer[:len(x)]
	clear(v)
	prng.Sum(v, terms, uint32(start/prng.BlockLen))
	if r.plan.WeightDecay != 0 {
		mathx.Axpy(v, r.plan.WeightDecay, x)
	}
	switch r.plan.Rule {
	case wire.Momentum:
		mathx.Momentum(m, r.plan.Beta, 1-r.plan.Beta, v)
		v = m
	case wire.TorchMomentum:
		mathx.Momentum(m, r.plan.Beta, 1, v)
		v = m
	}
	r.eachSpan(start, len(x), func(s span, lo, hi int) {
		mathx.Descend(x[lo:hi], eta*s.step, v[lo:hi])
	})
}

// Direction returns z of record n, local step k, perturbation p.
func (r *Replica) Direction(n uint64, k, p int) prng.Direction {
	if r.keyN != n {
		r.keyN, r.key = n, prng.RecordKey(r.plan.RunKey, n)
	}
	return prng.Direction{
		Key:          r.key,
		Step:         uint16(k),
		Perturbation: uint16(p),
		Source:       prng.Shared,
		Domain:       prng.Directions,
		Dist:         prng.Distribution(r.plan.Distribution),
	}
}
