package cost

import (
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/secagg"
)

// Secure returns the cost of the steps of a round of secure aggregation, without their frames and
// the protocol lines of NATS, which [Of] adds. The plan must have secure=sum.
func Secure(p *plan.Plan, in Input) secagg.Cost {
	words := int(p.Steps)*int(p.PerturbationsAt(max(in.Round, 1))) + 1
	return secagg.Price(int(p.Sampled(plan.MaxMembers)), words, p.SecureLists > 0)
}

// addMasked adds the cost of the steps of secure aggregation. A device performs these steps instead
// of sending a contribution. The answer to each step holds the bytes for the next step.
func (s *sample) addMasked(c *Round, i int, id string) {
	price, subject := Secure(s.plan, Input{Round: s.round}), subjects.Step(s.plan.Run, id)
	steps := []secagg.Step{secagg.StepKeys, secagg.StepShares, secagg.StepMask, secagg.StepAgree,
		secagg.StepUnmask}
	if s.plan.SecureLists == 0 {
		steps = append(steps[:3], secagg.StepUnmask)
	}
	for j, step := range steps {
		request := secagg.Request{N: s.n(i), Step: step, Body: make([]byte, price.Up[step])}
		c.Up.add(requested(subject, request.Append(nil)))
		answer := secagg.Answer{N: s.n(i), Step: step, State: secagg.Next}
		if j+1 < len(steps) {
			answer.Body = make([]byte, price.Down[steps[j+1]])
		}
		c.Down.add(received(inbox, answer.Append(nil)))
	}
}

// accountMasked adds the parts of the messages of secure aggregation, whose cost is c.
func (s *sample) accountMasked(a *Account, c *Round) {
	price := Secure(s.plan, Input{Round: s.round})
	words := int(4 * (c.Scalars + 1))
	a.Up.Values += words
	a.Up.Fields += c.Up.Payload - words
	for _, body := range price.Down {
		a.Floor.Fields += body // keys and shares look random
	}
}
