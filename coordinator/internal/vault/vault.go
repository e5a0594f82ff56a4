// Package vault is the coordinator's side of secure aggregation, for plans with secure=sum. It
// leads the devices of one attempt through the steps of package secagg, and has the mean of
// their scalars in the end, and nothing of a single one.
//
// The engine keeps its cohorts, presence, quorum and deadlines: to it each step is a collection of
// answers. A vault is a pure function of its inputs, as the engine is.
package vault

import (
	"errors"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/crowd"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/quorum"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// ends are when steps end, in eighths of the attempt's deadline. Devices compute their scalars from
// the announcement to the end of the third.
var (
	ends = [...]uint64{secagg.StepKeys: 2, secagg.StepShares: 3, secagg.StepMask: 7,
		secagg.StepUnmask: 8}
	agreedEnds = [...]uint64{secagg.StepKeys: 2, secagg.StepShares: 3, secagg.StepMask: 6,
		secagg.StepAgree: 7, secagg.StepUnmask: 8}
)

// A Vault leads one attempt at a time. Only a plan with secure=sum has one.
//
// Invariants:
//  1. server is nil unless an attempt is open that can come to a sum.
//  2. tokens has where a device waits that has answered the open step.
//  3. spent says that devices were asked to unmask the open record. They do so once: another
//     attempt at the record could tell the scalars of who joined it or left.
type Vault struct {
	plan    *plan.Plan
	attempt secagg.Attempt
	round   secagg.Round
	server  *secagg.Server
	tokens  map[uint32]string
	took    map[uint32]bool // who has answered the open step
	last    secagg.Step     // the step before the open one
	in      map[uint32]bool // who has answered it; nil in the first
	asked   uint64          // when the attempt was announced
	spent   bool
	most    bool // see [Vault.Most]
	means   []float32
	loss    float32
	count   uint32
	slots   []uint32 // whose vectors are in the sum
	liars   []uint32
}

// New returns the vault of a plan with secure aggregation.
func New(p *plan.Plan) *Vault { return &Vault{plan: p} }

// Begin opens an attempt, now, of which a is the announcement. away says which slots of its cohort
// are not to be waited for. They take no part.
func (v *Vault) Begin(a *wire.Announcement, tip wire.Tip, scalars int, now uint64,
	away func(slot uint32) bool) {
	open := secagg.Of(v.plan.Run, a, tip, scalars)
	open.Leave(away)
	*v = Vault{plan: v.plan, attempt: open, asked: now, round: open.Round(v.plan),
		spent: v.spent && v.attempt.N == a.N, most: v.most, tokens: map[uint32]string{},
		took: map[uint32]bool{}}
	if server, err := secagg.NewServer(v.round); err == nil {
		v.server = server
	}
}

// Vain says whether the attempt was in vain from the start: fewer than the quorum take part, so no
// device answers.
func (v *Vault) Vain() bool { return len(v.round.Members) < int(v.plan.Quorum) }

// On says whether an attempt is open that has no sum yet.
func (v *Vault) On() bool { return v.server != nil }

// Over ends the attempt.
func (v *Vault) Over() { v.server = nil }

// Spent says whether another attempt at the record is in vain, because devices were asked to unmask
// it, or a quorum could be reached and some decline because they were.
func (v *Vault) Spent(declines []uint32, reachable uint32) bool {
	return v.spent || declines[secagg.DeclineSpent] > 0 && reachable >= v.plan.Quorum
}

// Lacks says whether another attempt is in vain because so few devices are present: it leaves out
// who is absent.
func (v *Vault) Lacks(present uint32) bool { return present < v.plan.Quorum }

// Fit returns as much of an attempt's cohort at record n as a round can have. Of devices that agree
// on lists all who are not absent have to be neighbors.
func (v *Vault) Fit(c wire.Cohort, n uint64, attempt uint32, absent func(uint32) bool) wire.Cohort {
	asked, there := uint64(0), 0
	v.most = false
	for slot := range c.Slots(v.plan.Run, n, attempt) {
		if !absent(slot) {
			there++
		}
		degree, _ := secagg.Graph(there)
		v.most = asked == secagg.MostAsked || v.plan.SecureLists > 0 && degree+1 < there
		if v.most {
			break
		}
		asked++
	}
	c.Sampled = asked
	return c
}

// Most says whether the attempt asks as many as a round can have.
func (v *Vault) Most() bool { return v.most }

// Step returns the open step's name, "" without one.
func (v *Vault) Step() string {
	if !v.On() {
		return ""
	}
	return v.server.Step().String()
}

// Tail returns the tail of an announcement of the attempt.
func (v *Vault) Tail(rest []byte) []byte {
	return secagg.Tail(rest, v.attempt.Out)
}

// Waits says whether the open step lacks a device's answer; without one, it does.
func (v *Vault) Waits(slot uint32) bool {
	return !v.On() || !v.took[slot] && (v.in == nil || v.in[slot])
}

// Needs returns q with what the open step has, and what it needs to end well: the last one shares
// of the secrets that it lacks, the others answers of the quorum, and masked scalars of no more
// than the target.
func (v *Vault) Needs(q quorum.Quorum) quorum.Quorum {
	q.Have, q.Least, q.Most = uint32(len(v.took)), v.plan.Quorum, math.MaxUint32
	q.Must = !v.server.Enough()
	switch v.server.Step() {
	case secagg.StepMask:
		q.Most = v.plan.Target
	case secagg.StepUnmask:
		q.Least, q.Most = 0, 0
	}
	return q
}

// Ends returns when the open step ends at the latest; without one, the deadline.
func (v *Vault) Ends(deadline uint64) uint64 {
	if !v.On() {
		return deadline
	}
	end := ends[:]
	if v.round.Agree {
		end = agreedEnds[:]
	}
	return v.asked + uint64(v.plan.Deadline)*end[v.server.Step()]/8
}

// Read reads a device's request.
func (v *Vault) Read(frame []byte) (m policy.Message, err error) {
	r, err := secagg.DecodeRequest(frame)
	return policy.Message{N: r.N, Sent: answerOf(&r), Body: &r}, err
}

// answerOf returns the keys of an attempt as an answer, because a device makes them once. Other
// steps are none.
func answerOf(r *secagg.Request) crowd.Answer {
	if r.Step != secagg.StepKeys {
		return crowd.Answer{}
	}
	return crowd.AnswerOf(r.N, r.Nonce[:], r.Body)
}

// Take takes a device's request, and counts one that it drops. It answers now what can be answered
// at once; else it keeps the token until the step ends. taken says that the device was waited for.
func (v *Vault) Take(slot uint32, m policy.Message, token string, counters *report.Counters,
	respond func(token string, frame []byte)) (taken bool) {
	r := m.Body.(*secagg.Request)
	if !v.On() || r.N != v.attempt.N || r.Nonce != v.attempt.Nonce() {
		counters.Late++
		respond(token, stranger(r))
		return false
	}
	switch step := v.server.Step(); {
	case r.Step == v.last && v.in[slot]: // its answer was lost
		counters.Repeated++
		respond(token, v.answer(r.Step, secagg.Next, v.server.Give(slot)))
		return false
	case r.Step != step:
		counters.Late++
		respond(token, stranger(r))
		return false
	}
	switch err := v.server.Take(r.Step, slot, r.Body); {
	case errors.Is(err, secagg.ErrForeign):
		counters.Unsampled++
		respond(token, stranger(r))
	case errors.Is(err, secagg.ErrConflict) && r.Step == secagg.StepKeys: // it lost its keys
		counters.Late++
		respond(token, stranger(r))
	case err != nil: // somebody else may have sent it: no answer ends the device's work
		counters.Malformed++
	case v.took[slot]:
		counters.Repeated++
		v.tokens[slot] = token
	default:
		v.took[slot], v.tokens[slot] = true, token
		return true
	}
	return false
}

// stranger is the answer to who is in another attempt, or out of this one.
func stranger(r *secagg.Request) []byte {
	a := secagg.Answer{N: r.N, Nonce: r.Nonce, Step: r.Step, State: secagg.Over}
	return a.Append(nil)
}

func (v *Vault) answer(step secagg.Step, state secagg.State, body []byte) []byte {
	a := secagg.Answer{N: v.attempt.N, Nonce: v.attempt.Nonce(), Step: step, State: state,
		Body: body}
	return a.Append(nil)
}

// Close ends the open step, and answers the devices that wait. It says whether the round goes on:
// with the next step while the vault is on, and else with its sum. Without enough answers the
// attempt is over.
func (v *Vault) Close(respond func(token string, frame []byte)) (ok bool) {
	step := v.server.Step()
	ok = v.Needs(quorum.Quorum{}).Enough() && v.server.Close() == nil
	for _, slot := range v.round.Members {
		token, waits := v.tokens[slot]
		if !waits {
			continue
		}
		state, body := secagg.Over, []byte(nil)
		if ok && step != secagg.StepUnmask {
			state, body = secagg.Next, v.server.Give(slot)
		}
		respond(token, v.answer(step, state, body))
	}
	v.last, v.in, v.took = step, v.took, map[uint32]bool{}
	clear(v.tokens)
	v.spent = v.spent || ok && v.server.Step() == secagg.StepUnmask
	switch {
	case !ok:
		v.server = nil
	case step == secagg.StepUnmask:
		v.liars = v.server.Liars()
		v.sum()
		v.server = nil
	}
	return ok
}

// sum computes the means of the scalars and of the losses.
func (v *Vault) sum() {
	words, slots, err := v.server.Sum()
	if err != nil {
		panic("vault: internal error: " + err.Error())
	}
	v.slots, v.count = slots, uint32(len(slots))
	scalars, loss := secagg.Codings(v.plan, len(v.round.Members))
	last := len(words) - 1
	v.means = make([]float32, last)
	for i, word := range words[:last] {
		v.means[i] = v.mean(scalars, word)
	}
	v.loss = v.mean(loss, words[last])
}

// mean returns the mean that a word stands for. Honest devices never make one beyond the range.
func (v *Vault) mean(c secagg.Coding, word uint32) float32 {
	mean, most := c.Sum(word)/float64(v.count), float64(c.Range)
	return float32(math.Min(math.Max(mean, -most), most))
}

// Result returns the mean of the losses of so many devices; count is 0 without a sum.
func (v *Vault) Result() (loss float32, count uint32) { return v.loss, v.count }

// Means returns the means of the scalars.
func (v *Vault) Means() []float32 { return v.means }

// Contributors returns the slots whose vectors are in the sum.
func (v *Vault) Contributors() []uint32 { return v.slots }

// Liars returns the slots whose shares were found to be false.
func (v *Vault) Liars() []uint32 { return v.liars }

// Skip returns the change that takes the index of a record that cannot be made: it sets the quorum
// to what it is.
func (v *Vault) Skip() *plan.Change {
	fields := plan.Fields()
	at := slices.IndexFunc(fields, func(f plan.Field) bool { return f.Name == "quorum" })
	return &plan.Change{Fields: []uint64{fields[at].Number}, Values: plan.Plan{
		RoundsFields: plan.RoundsFields{Quorum: v.plan.Quorum},
	}}
}
