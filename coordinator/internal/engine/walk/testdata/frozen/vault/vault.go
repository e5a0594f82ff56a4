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

// An Answer goes to a device that waits for it.
type Answer struct {
	Token string
	Frame []byte
}

// A Vault leads one attempt at a time. Only a plan with secure=sum has one: a nil Vault does
// nothing.
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

// For returns the vault of a plan, nil unless it has secure aggregation.
func For(p *plan.Plan) *Vault {
	if !p.Summed() {
		return nil
	}
	return &Vault{plan: p}
}

// Begin opens an attempt, now. away says which slots of its cohort are not to be waited for. They
// take no part.
func (v *Vault) Begin(a secagg.Attempt, now uint64, away func(slot uint32) bool) {
	if v == nil {
		return
	}
	a.Leave(away)
	*v = Vault{plan: v.plan, attempt: a, asked: now, round: a.Round(v.plan),
		spent: v.spent && v.attempt.N == a.N, most: v.most, tokens: map[uint32]string{},
		took: map[uint32]bool{}}
	if server, err := secagg.NewServer(v.round); err == nil {
		v.server = server
	}
}

// Vain says whether the attempt was in vain from the start: fewer than the quorum take part, so no
// device answers.
func (v *Vault) Vain() bool { return v != nil && len(v.round.Members) < int(v.plan.Quorum) }

// On says whether an attempt is open that has no sum yet.
func (v *Vault) On() bool { return v != nil && v.server != nil }

// Over ends the attempt.
func (v *Vault) Over() {
	if v != nil {
		v.server = nil
	}
}

// Spent says whether another attempt at the record is in vain, because devices were asked to unmask
// it.
func (v *Vault) Spent() bool { return v != nil && v.spent }

// Lacks says whether another attempt is in vain because so few devices are present: it leaves out
// who is absent.
func (v *Vault) Lacks(present uint32) bool { return v != nil && present < v.plan.Quorum }

// Fit returns as much of an attempt's cohort at record n as a round can have. Of devices that agree
// on lists all who are not absent have to be neighbors.
func (v *Vault) Fit(c wire.Cohort, n uint64, attempt uint32, absent func(uint32) bool) wire.Cohort {
	if v == nil {
		return c
	}
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
func (v *Vault) Most() bool { return v != nil && v.most }

// Step returns the open step's name, "" without one.
func (v *Vault) Step() string {
	if !v.On() {
		return ""
	}
	return v.server.Step().String()
}

// Tail returns the tail of an announcement of the attempt.
func (v *Vault) Tail(rest []byte) []byte {
	if v == nil {
		return rest
	}
	return secagg.Tail(rest, v.attempt.Out)
}

// Waits says whether the open step lacks a device's answer. Without a vault all are waited for.
func (v *Vault) Waits(slot uint32) bool {
	return !v.On() || !v.took[slot] && (v.in == nil || v.in[slot])
}

// Count returns how many have answered the open step.
func (v *Vault) Count() uint32 { return uint32(len(v.took)) }

// Enough says whether the step can end well.
func (v *Vault) Enough() bool {
	unmasks := v.server.Step() == secagg.StepUnmask
	return v.server.Enough() && (unmasks || v.Count() >= v.plan.Quorum)
}

// Full says whether more answers to the step are needless.
func (v *Vault) Full() bool {
	return v.On() && v.Enough() && (v.server.Step() == secagg.StepUnmask ||
		v.server.Step() == secagg.StepMask && v.Count() >= v.plan.Target)
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

// Take takes a device's request, and counts one that it drops. The answer has a frame if it can be
// given at once; else the token is kept until the step ends. taken says that the device was
// waited for.
func (v *Vault) Take(slot uint32, r *secagg.Request, token string,
	counters *report.Counters) (now Answer, taken bool) {
	if !v.On() || r.N != v.attempt.N || r.Nonce != v.attempt.Nonce() {
		counters.Late++
		return stranger(r, token), false
	}
	switch step := v.server.Step(); {
	case r.Step == v.last && v.in[slot]: // its answer was lost
		counters.Repeated++
		return Answer{token, v.answer(r.Step, secagg.Next, v.server.Give(slot))}, false
	case r.Step != step:
		counters.Late++
		return stranger(r, token), false
	}
	switch err := v.server.Take(r.Step, slot, r.Body); {
	case errors.Is(err, secagg.ErrForeign):
		counters.Unsampled++
		return stranger(r, token), false
	case errors.Is(err, secagg.ErrConflict) && r.Step == secagg.StepKeys: // it lost its keys
		counters.Late++
		return stranger(r, token), false
	case err != nil: // somebody else may have sent it: no answer ends the device's work
		counters.Malformed++
		return Answer{}, false
	case v.took[slot]:
		counters.Repeated++
		v.tokens[slot] = token
		return Answer{}, false
	}
	v.took[slot], v.tokens[slot] = true, token
	return Answer{}, true
}

// stranger answers who is in another attempt, or out of this one.
func stranger(r *secagg.Request, token string) Answer {
	a := secagg.Answer{N: r.N, Nonce: r.Nonce, Step: r.Step, State: secagg.Over}
	return Answer{token, a.Append(nil)}
}

func (v *Vault) answer(step secagg.Step, state secagg.State, body []byte) []byte {
	a := secagg.Answer{N: v.attempt.N, Nonce: v.attempt.Nonce(), Step: step, State: state,
		Body: body}
	return a.Append(nil)
}

// Close ends the open step. It returns the answers to the devices that wait, and whether the round
// goes on: with the next step while the vault is on, and else with its sum. Without enough answers
// the attempt is over.
func (v *Vault) Close() (answers []Answer, ok bool) {
	step := v.server.Step()
	ok = v.Enough() && v.server.Close() == nil
	for _, slot := range v.round.Members {
		token, waits := v.tokens[slot]
		if !waits {
			continue
		}
		state, body := secagg.Over, []byte(nil)
		if ok && step != secagg.StepUnmask {
			state, body = secagg.Next, v.server.Give(slot)
		}
		answers = append(answers, Answer{token, v.answer(step, state, body)})
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
	return answers, ok
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

// Result returns the means of the scalars and of the losses, over so many devices; count is 0
// without a sum.
func (v *Vault) Result() (means []float32, loss float32, count uint32) {
	if v == nil {
		return nil, 0, 0
	}
	return v.means, v.loss, v.count
}

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
