package cma

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/loss"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A stage says what a run does at present besides rounds.
type stage uint8

const (
	running    stage = iota
	restarting       // asked for the rollback to the run's beginning
	rolledBack       // the log has it, and lacks the change that follows
	returning        // asked for the rollback to the best record
	returned         // the log has it, and lacks the end
)

// A Lead is what the coordinator of a run knows besides its log. It is the run's law: P is lambda,
// and the step is the plan's sigma in every record.
type Lead struct {
	at    *runlog.Position
	again []float64 // of the open round
	// scalars has those of the open round's contributions, one contribution after another.
	scalars []float32
	begun   bool    // a round was compared
	above   float64 // see [loss.OfCandidate], of the first one
	known
	asked bool // for what follows from the last round
}

// known is what a coordinator hands over.
type known struct {
	noise    noise
	level    level
	bend     Bend    // until round 1 is over
	wider    float64 // a better first sigma, until the log has it; 0: none
	restarts float64 // made so far
	spent    float64 // rounds before the last restart
	best     float64 // the least of the losses with which starts ended
	bestAt   float64 // its record; 0: none
	bestIn   float64 // how many restarts came before that record
	stage    stage
	from     float64 // restarting: the record before the rollback
	over     float64 // returning: 1 where the run's rounds are done, 0 where it is level
}

// New returns the lead of a run.
func New(at *runlog.Position) *Lead { return &Lead{at: at} }

// Open begins a round with the plan's number of candidates, and returns lambda.
func (l *Lead) Open(perturbations uint32) uint32 {
	l.again, l.scalars = l.again[:0], l.scalars[:0]
	return l.candidates(perturbations)
}

// Announce sets lambda in an announcement.
func (l *Lead) Announce(a *wire.Announcement) { a.Perturbations = l.candidates(a.Perturbations) }

func (l *Lead) candidates(perturbations uint32) uint32 {
	if l.at.Plan.PerturbationsAuto == 0 {
		return perturbations
	}
	return uint32(within(l.noise.lambda, float64(perturbations), most(perturbations)))
}

// most is the largest number of candidates that noise may ask for.
func most(perturbations uint32) float64 {
	return min(plan.MaxGrowth*float64(perturbations), plan.MaxScalars)
}

// Add takes a contribution's scalars and the bytes after them: with the rule for noise, what the
// loss of a candidate differed by when it was evaluated again.
func (l *Lead) Add(scalars []float32, rest []byte) {
	l.scalars = append(l.scalars, scalars...)
	if again, ok := survey.SlopeOf(rest); ok && l.at.Plan.PerturbationsAuto > 0 {
		l.again = append(l.again, float64(again))
	}
}

// Bent takes what the losses that found the first sigma tell besides.
func (l *Lead) Bent(b Bend) { l.bend = b }

// Compare puts the losses of the candidate that the record ranks best in place of each device's
// least: where devices want different models, each has a far candidate that is better for itself
// than any can be for all, and least losses rise while such a fleet learns. The best candidate of
// the first round may be lucky.
//
// The watch looks at the median. Where most devices want about the same, but not the others, the
// median rises while the mean falls. So Compare adds to all losses what the mean is above the
// median, at most as much as in the first round. Then the watch sees a rise only where both rise.
func (l *Lead) Compare(body *wire.Round, losses []float32) (rise float32, luck float64) {
	n, means := int(body.Perturbations), l.means(body)
	l.level.follow(mean(losses), means)
	if len(losses) == 0 {
		return 0, l.level.spread
	}
	best := slices.Index(means, slices.Min(means))
	if len(l.scalars) != n*len(losses) { // means alone are known
		lift(losses, float64(means[best]))
		return means[best], l.level.spread
	}
	var least loss.Mean
	for i, v := range losses {
		least.Add(v, 1)
		losses[i] = min(v+l.scalars[n*i+best], math.MaxFloat32)
	}
	bounded := l.at.Plan.ClaimBound > 0
	same, above := loss.OfCandidate(losses, bounded)
	if !l.begun {
		l.begun, l.above = true, above
	}
	lift(losses, min(above, l.above))
	return float32(same) - least.Over(uint64(len(losses)), bounded), l.level.spread
}

// lift adds by to losses.
func lift(losses []float32, by float64) {
	for i, v := range losses {
		losses[i] = float32(min(max(float64(v)+by, -math.MaxFloat32), math.MaxFloat32))
	}
}

// means returns the mean scalars of a round.
func (l *Lead) means(body *wire.Round) []float32 {
	return l.at.Plan.TermPrecision().Read(body.Terms[0].Scalars, 1, int(body.Perturbations))
}

// mean returns the mean of losses, whatever their order.
func mean(losses []float32) (sum float64) {
	for _, v := range slices.Sorted(slices.Values(losses)) {
		sum += float64(v) / float64(len(losses))
	}
	return sum
}

// Next follows a round whose body is complete, and returns its step.
func (l *Lead) Next(at *runlog.Position, body *wire.Round, _ []float32) float32 {
	p := &at.Plan
	scalars := l.means(body)
	l.noise.follow(scalars, l.again, float64(p.Perturbations), most(p.Perturbations))
	if l.bend.Curve > 0 && p.Dim > 1 { // on a line no direction is orthogonal, and short ones mislead
		l.wider = l.bend.wider(scalars, float64(p.StepSize), float64(p.MaxScalar))
		l.bend = Bend{}
	}
	l.asked = false
	return p.StepSize
}

// Moved follows the log.
func (l *Lead) Moved(_ []byte, r wire.Record) {
	if r.Kind != wire.KindRound {
		l.known, l.asked = l.after(r.Kind), false
	}
}

// after returns what is known once the log has a record of a kind that comes next. Rounds are known
// before the log has them.
func (l *Lead) after(kind wire.RecordKind) known {
	k := l.known
	switch kind {
	case wire.KindRollback:
		next := map[stage]stage{restarting: rolledBack, returning: returned}[k.stage]
		k.noise, k.level, k.stage = noise{}, level{}, next
	case wire.KindChange:
		k.wider = 0
		if k.stage == rolledBack {
			k.stage = running
		}
	}
	return k
}

// Request returns what the run needs after the log's last record.
func (l *Lead) Request() (q policy.Request) {
	p := &l.at.Plan
	switch {
	case l.at.End != nil:
	case l.stage == rolledBack:
		q.Record = &wire.Record{Kind: wire.KindChange, Change: l.anew()}
	case l.stage == returned:
		q.End = l.end()
	case l.stage != running || l.asked:
	case p.StepSize == 0 && len(p.Boxes) > 0:
		q.Record = &wire.Record{Kind: wire.KindChange, Change: Begin(ofBoxes)}
	case l.wider > 0:
		q.Record = &wire.Record{Kind: wire.KindChange, Change: Begin(float32(l.wider))}
	case p.PerturbationsAuto > 0 && l.noise.exact():
		q.Record = &wire.Record{Kind: wire.KindChange, Change: &plan.Change{
			Fields: []uint64{number("perturbations_auto")}}}
	default:
		q = l.next()
	}
	l.asked = true
	return q
}

// ofBoxes is the first sigma in parts of a box's side: of 0.1, 0.15 and 0.2 the best in
// examples/pid, which begins at good values.
const ofBoxes = 0.1

// next returns what follows from the last rounds.
func (l *Lead) next() (q policy.Request) {
	p := &l.at.Plan
	over := l.level.is(float64(p.Dim), float64(l.candidates(p.Perturbations)))
	switch {
	case l.spent > 0 && p.Rounds > 0 && l.spent+float64(l.at.Rounds) >= float64(p.Rounds):
		l.over = 1
		return l.finish()
	case over && p.Restarts > 0:
		l.close()
		l.restarts++
		l.spent += float64(l.at.Rounds)
		l.stage, l.from = restarting, float64(l.at.N)
		q.Record = &wire.Record{Kind: wire.KindRollback, To: max(l.at.Begins, 1)}
	case over && (l.restarts > 0 || l.level.zeros >= stopped):
		return l.finish()
	case l.level.still():
		q.Pause = fmt.Sprintf("in %d records no candidate had another loss than the others: is the loss "+
			"constant? `zofl change step=...` tries candidates farther away, `zofl resume` goes on",
			stopped)
		l.level = level{}
	case l.noise.drowned >= patience:
		q.Pause = fmt.Sprintf("noise hid what candidates differ by in %d records, with %d candidates: "+
			"the model is as good as such losses can tell; `zofl stop`, or more samples a loss and "+
			"`zofl resume`", patience, l.candidates(p.Perturbations))
		l.noise.drowned = 0
	}
	return q
}

// close compares the end of a start with those of the starts before. A start's least loss of all
// may be luck, of a candidate far from the model.
func (l *Lead) close() {
	if l.bestAt == 0 || l.level.low <= l.best {
		l.best, l.bestAt, l.bestIn = l.level.low, float64(l.at.N), l.restarts
	}
}

// finish ends the run, at the best record if that came before the last restart.
func (l *Lead) finish() (q policy.Request) {
	l.close()
	if l.bestIn == l.restarts {
		q.End = l.end()
	} else {
		l.stage = returning
		q.Record = &wire.Record{Kind: wire.KindRollback, To: uint64(l.bestAt)}
	}
	return q
}

// end says why the run ends.
func (l *Lead) end() *wire.End {
	e := &wire.End{Reason: wire.EndPatience, Text: "the least loss no longer falls"}
	if l.over > 0 {
		e = &wire.End{Reason: wire.EndRounds}
	}
	if l.restarts > 0 {
		e.Text = fmt.Sprintf("the least loss of %d starts was %.6g, at record %d",
			int(l.restarts)+1, l.best, int(l.bestAt))
	}
	return e
}

// anew returns the change after the rollback to the run's beginning: the plan that the run had,
// with twice the candidates and one restart less.
func (l *Lead) anew() *plan.Change {
	had := l.at.PlanAt(uint64(l.from))
	had.Perturbations = min(2*had.Perturbations, plan.MaxScalars)
	had.Restarts--
	return change(&l.at.Plan, &had)
}

// change returns the change from a plan to another.
func change(now, to *plan.Plan) *plan.Change {
	c := &plan.Change{Values: *to}
	for _, f := range plan.Fields() {
		if f.Changeable && !reflect.DeepEqual(f.At(now), f.At(to)) {
			c.Fields = append(c.Fields, f.Number)
		}
	}
	slices.Sort(c.Fields)
	return c
}

func number(name string) uint64 {
	f, _ := plan.FieldNamed(name)
	return f.Number
}

// Begin returns the change that gives the plan its first sigma.
func Begin(sigma float32) *plan.Change {
	c := &plan.Change{Fields: []uint64{number("step")}}
	c.Values.StepSize = sigma
	return c
}

// Same returns a change that leaves the plan as it is.
func Same(p *plan.Plan) *plan.Change {
	c := &plan.Change{Fields: []uint64{number("perturbations")}}
	c.Values.Perturbations = p.Perturbations
	return c
}
