// Package secagg is the coordinator's side of secure aggregation, for plans with secure=sum. The
// package leads the devices of one attempt through the steps of package wire/secagg. In the end it
// has the mean of the devices' scalars, and no single contribution.
//
// The engine keeps its cohorts, presence, quorum and deadlines: for the engine each step is a
// collection of answers. A leader is a pure function of its inputs, as the engine is.
package secagg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/internal/quorum"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// ends are the times when steps end, in eighths of the attempt's deadline. Devices compute their
// scalars between the announcement and the end of the third step.
var (
	ends = [...]uint64{secagg.StepKeys: 2, secagg.StepShares: 3, secagg.StepMask: 7,
		secagg.StepUnmask: 8}
	agreedEnds = [...]uint64{secagg.StepKeys: 2, secagg.StepShares: 3, secagg.StepMask: 6,
		secagg.StepAgree: 7, secagg.StepUnmask: 8}
)

// A Leader leads one attempt at a time. Only a plan with secure=sum has one.
//
// Invariants:
//  1. server is nil unless an attempt is open that can still get a sum.
//  2. tokens has, for each waiting device that has answered the open step, where the device waits.
//  3. spent says that the coordinator asked devices to unmask the open record. Devices unmask a
//     record once: another attempt at the record could reveal the scalars of a device that took
//     part in only one of the attempts.
//  4. gone has the devices that said, in the open step, that they cannot answer it.
type Leader struct {
	plan    *plan.Plan
	attempt secagg.Attempt
	round   secagg.Round
	server  *secagg.Server
	tokens  map[uint32]string
	took    map[uint32]bool // who has answered the open step
	gone    map[uint32]bool // who will not answer it
	last    secagg.Step     // the step before the open one
	in      map[uint32]bool // who has answered it; nil in the first
	asked   uint64          // when the attempt was announced
	spent   bool
	most    bool     // see [Leader.Saturated]
	words   []uint32 // the sum
	means   []float32
	loss    float32
	count   uint32
	slots   []uint32 // whose vectors are in the sum
	ledger  *ledger  // of all attempts
}

// New returns the leader of a plan with secure aggregation.
func New(p *plan.Plan) *Leader { return &Leader{plan: p, ledger: &ledger{}} }

// Begin opens an attempt at time now. a is the attempt's announcement. Devices of the cohort for
// whose slots away returns true take no part.
func (l *Leader) Begin(a *wire.Announcement, tip wire.Tip, scalars int, now uint64,
	away func(slot uint32) bool) {
	open := secagg.Of(l.plan.Run, a, tip, scalars)
	open.Leave(away)
	*l = Leader{plan: l.plan, attempt: open, asked: now, round: open.Round(l.plan),
		spent: l.spent && l.attempt.N == a.N, most: l.most, tokens: map[uint32]string{},
		took: map[uint32]bool{}, gone: map[uint32]bool{}, ledger: l.ledger}
	if server, err := secagg.NewServer(l.round); err == nil {
		l.server = server
	}
}

// Hopeless says whether the attempt cannot succeed from the start: fewer devices than the quorum
// take part, so no device answers.
func (l *Leader) Hopeless() bool { return len(l.round.Members) < int(l.plan.Quorum) }

// On says whether an attempt is open that has no sum yet.
func (l *Leader) On() bool { return l.server != nil }

// Abort ends the attempt.
func (l *Leader) Abort() { l.server = nil }

// Spent says whether another attempt at the record is in vain. It is in vain if the coordinator
// asked devices to unmask the record, or if some devices decline because they were asked and a
// quorum could be reached.
func (l *Leader) Spent(declines []uint32, reachable uint32) bool {
	return l.spent || declines[secagg.DeclineSpent] > 0 && reachable >= l.plan.Quorum
}

// TooFew says whether another attempt would be in vain because too few devices are present: an
// attempt leaves out absent devices.
func (l *Leader) TooFew(present uint32) bool { return present < l.plan.Quorum }

// Fit returns the largest part of an attempt's cohort at record n that a round can have. If devices
// agree on lists, all devices that are not absent must be neighbors of each other.
func (l *Leader) Fit(c wire.Cohort, n uint64, attempt uint32,
	absent func(uint32) bool) wire.Cohort {
	asked, there := uint64(0), 0
	l.most = false
	for slot := range c.Slots(l.plan.Run, n, attempt) {
		if !absent(slot) {
			there++
		}
		degree, _ := secagg.Graph(there)
		l.most = asked == secagg.MostAsked || l.plan.SecureLists > 0 && degree+1 < there
		if l.most {
			break
		}
		asked++
	}
	c.Sampled = asked
	return c
}

// Saturated says whether the attempt asks as many devices as a round can have.
func (l *Leader) Saturated() bool { return l.most }

// Step returns the open step's name, or "" if no step is open.
func (l *Leader) Step() string {
	if !l.On() {
		return ""
	}
	return l.server.Step().String()
}

// Tail returns the tail of an announcement of the attempt.
func (l *Leader) Tail(rest []byte) []byte {
	return secagg.Tail(rest, l.attempt.Out)
}

// Waits says whether the open step still needs a device's answer. If no step is open, it returns
// true.
func (l *Leader) Waits(slot uint32) bool {
	return !l.On() || !l.took[slot] && !l.gone[slot] && (l.in == nil || l.in[slot])
}

// Needs returns q with the number of answers that the open step has, and the number that it needs
// to succeed. The last step needs shares from which the secrets follow that the coordinator lacks:
// while they do not fit, it stays open for other shares. The other steps need answers from a
// quorum, and masked scalars from at most as many as q says.
func (l *Leader) Needs(q quorum.Quorum) quorum.Quorum {
	most := q.Most
	q.Have, q.Least, q.Most = uint32(len(l.took)), l.plan.Quorum, math.MaxUint32
	q.Must = !l.server.Enough()
	switch l.server.Step() {
	case secagg.StepMask:
		q.Most = most
	case secagg.StepUnmask:
		q.Least, q.Most = 0, 0
	}
	return q
}

// Ends returns when the open step ends at the latest, or the deadline if no step is open.
func (l *Leader) Ends(deadline uint64) uint64 {
	if !l.On() {
		return deadline
	}
	end := ends[:]
	if l.round.Agree {
		end = agreedEnds[:]
	}
	return l.asked + uint64(l.plan.Deadline)*end[l.server.Step()]/8
}

// Read reads a device's request.
func (l *Leader) Read(frame []byte) (m policy.Message, err error) {
	r, err := secagg.DecodeRequest(frame)
	return policy.Message{N: r.N, Sent: answerOf(&r), Body: &r}, err
}

// answerOf returns a device's keys as an Answer, because a device makes the keys of an attempt only
// once. For requests of other steps, answerOf returns the zero Answer.
func answerOf(r *secagg.Request) presence.Answer {
	if r.Step != secagg.StepKeys {
		return presence.Answer{}
	}
	return presence.AnswerOf(r.N, r.Nonce[:], r.Body)
}

// Take takes a device's request, and counts a request that it drops. Take answers at once if it
// can; otherwise it keeps the token until the step ends. taken says whether the step waited for the
// device.
func (l *Leader) Take(slot uint32, m policy.Message, token string, counters *report.Counters,
	respond func(token string, frame []byte)) (taken bool) {
	r := m.Body.(*secagg.Request)
	if !l.On() || r.N != l.attempt.N || r.Nonce != l.attempt.Nonce() {
		counters.Late++
		respond(token, stranger(r))
		return false
	}
	switch step := l.server.Step(); {
	case r.Step == l.last && l.in[slot]: // its answer was lost
		counters.Repeated++
		respond(token, l.answer(r.Step, secagg.Next, l.server.Give(slot)))
		return false
	case r.Step != step:
		counters.Late++
		respond(token, stranger(r))
		return false
	}
	if slots := r.Refuses(); slots != nil {
		switch quits := len(r.Body) == 0; {
		case l.server.Refuse(r.Step, slot, slots, quits) != nil:
			counters.Malformed++
			return false
		case quits:
			return l.quits(slot, r, token, counters, respond)
		}
	}
	switch err := l.server.Take(r.Step, slot, r.Body); {
	case errors.Is(err, secagg.ErrForeign):
		counters.Unsampled++
		respond(token, stranger(r))
	case errors.Is(err, secagg.ErrConflict) && r.Step == secagg.StepKeys: // it lost its keys
		counters.Late++
		respond(token, stranger(r))
	case err != nil: // somebody else may have sent it: no answer ends the device's work
		counters.Malformed++
	case l.took[slot]:
		counters.Repeated++
		l.tokens[slot] = token
	default:
		l.took[slot], l.tokens[slot] = true, token
		return true
	}
	return false
}

// quits handles that a device cannot answer the open step. The step no longer waits for it.
func (l *Leader) quits(slot uint32, r *secagg.Request, token string, counters *report.Counters,
	respond func(token string, frame []byte)) (taken bool) {
	respond(token, stranger(r))
	if l.gone[slot] {
		counters.Repeated++
		return false
	}
	l.gone[slot] = true
	return true
}

// stranger returns the answer to a device that is in another attempt, or no longer in this one.
func stranger(r *secagg.Request) []byte {
	a := secagg.Answer{N: r.N, Nonce: r.Nonce, Step: r.Step, State: secagg.Over}
	return a.Append(nil)
}

func (l *Leader) answer(step secagg.Step, state secagg.State, body []byte) []byte {
	a := secagg.Answer{N: l.attempt.N, Nonce: l.attempt.Nonce(), Step: step, State: state,
		Body: body}
	return a.Append(nil)
}

// Close ends the open step, and answers the devices that wait. ok says whether the round continues:
// with the next step while an attempt is open, and otherwise with its sum. Without enough answers
// the attempt is over.
func (l *Leader) Close(respond func(token string, frame []byte)) (ok bool) {
	step := l.server.Step()
	ok = (step == secagg.StepUnmask || l.Needs(quorum.Quorum{}).Enough()) && l.server.Close() == nil
	for _, slot := range l.round.Members {
		token, waits := l.tokens[slot]
		if !waits {
			continue
		}
		state, body := secagg.Over, []byte(nil)
		if ok && step != secagg.StepUnmask {
			state, body = secagg.Next, l.server.Give(slot)
		}
		respond(token, l.answer(step, state, body))
	}
	l.last, l.in, l.took = step, l.took, map[uint32]bool{}
	clear(l.tokens)
	clear(l.gone)
	l.spent = l.spent || ok && l.server.Step() == secagg.StepUnmask
	if ok && step != secagg.StepUnmask {
		return true
	}
	l.ledger.note(l.server.Faults())
	if ok {
		l.sum()
	}
	l.server = nil
	return ok
}

// sum computes the means of the scalars and of the losses.
func (l *Leader) sum() {
	words, slots, err := l.server.Sum()
	if err != nil {
		panic("secagg: internal error: " + err.Error())
	}
	l.words, l.slots, l.count = words, slots, uint32(len(slots))
	scalars, loss := secagg.Codings(l.plan, len(l.round.Members))
	last := len(words) - 1
	l.means = make([]float32, last)
	for i, word := range words[:last] {
		l.means[i] = l.mean(scalars, word)
	}
	l.loss = l.mean(loss, words[last])
}

// mean returns the mean that a word encodes. Honest devices produce no mean beyond the range.
func (l *Leader) mean(c secagg.Coding, word uint32) float32 {
	mean, most := c.Sum(word)/float64(l.count), float64(c.Range)
	return float32(math.Min(math.Max(mean, -most), most))
}

// Result returns the mean of the losses of count devices; count is 0 if there is no sum.
func (l *Leader) Result() (loss float32, count uint32) { return l.loss, l.count }

// Words returns the sums of the words, without that of the losses.
func (l *Leader) Words() []uint32 { return l.words[:len(l.words)-1] }

// Means returns the means of the scalars.
func (l *Leader) Means() []float32 { return l.means }

// Contributors returns the slots whose vectors are in the sum.
func (l *Leader) Contributors() []uint32 { return l.slots }

// Accused returns the devices that sent what is false, or may have.
func (l *Leader) Accused() []policy.Accused { return l.ledger.accused() }

// Allows refuses a lower quorum: devices add to no sum of fewer devices than the highest quorum
// that they have seen.
func (l *Leader) Allows(after *plan.Plan) error {
	if after.Quorum >= l.plan.Quorum {
		return nil
	}
	return &plan.Error{Field: "quorum", Value: after.Quorum, Remedy: fmt.Sprintf("with secure=sum "+
		"devices add to no sum of fewer than the %d that they joined for, so the quorum may only rise: "+
		"start more devices, or begin a run of another name with `zofl plan`", l.plan.Quorum)}
}

// Restores returns a change to a quorum if an earlier plan had a lower one, with the target and the
// members that this quorum needs.
func (l *Leader) Restores(earlier *plan.Plan, quorum uint32) *plan.Change {
	if earlier.Quorum >= quorum {
		return nil
	}
	return changeOf(plan.RoundsFields{Quorum: quorum, Target: max(earlier.Target, quorum),
		Members: max(earlier.Members, quorum)}, "members", "target", "quorum")
}

// changeOf returns the change that sets these fields to values.
func changeOf(values plan.RoundsFields, fields ...string) *plan.Change {
	c := &plan.Change{Values: plan.Plan{RoundsFields: values}}
	for _, f := range plan.Fields() {
		if slices.Contains(fields, f.Name) {
			c.Fields = append(c.Fields, f.Number)
		}
	}
	slices.Sort(c.Fields)
	return c
}

// Skip returns the change that uses up the index of a record that cannot be made: it sets the
// quorum to its present value.
func (l *Leader) Skip() *plan.Change {
	return changeOf(plan.RoundsFields{Quorum: l.plan.Quorum}, "quorum")
}
