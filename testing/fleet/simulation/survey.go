package simulation

import (
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// fieldMu is the number of mu among the plan's fields.
const fieldMu = 12

// surveyed checks that a change of mu is what enough devices found, whose answers reached its
// author, before any round that needs it.
func (b *book) surveyed(r *wire.Record) {
	b.w.count("survey")
	plan := b.plan()
	if plan.MuAuto == 0 || plan.Mu != 0 || r.Change.Values.Mu != foundMu {
		b.w.find("surveys find mu", "record %d sets mu to %v, where it is %v", r.N,
			r.Change.Values.Mu, plan.Mu)
	}
	if r.N > 2 {
		b.w.count("survey again")
	}
	reached := uint32(0)
	for device := range b.w.scenario.devices {
		if a := b.answerTo(device, r.N); b.surveys[a] && b.made[a][r.Epoch] {
			reached++
		}
	}
	if reached < plan.Quorum {
		b.w.find("quorum", "record %d is a survey of %d devices, the quorum is %d", r.N, reached,
			plan.Quorum)
	}
}

// needsMu checks that a round was not made before mu was found.
func (b *book) needsMu(r *wire.Record, plan *wire.Plan) {
	if plan.Mu == 0 {
		b.w.find("surveys find mu", "record %d is a round, and mu is 0", r.N)
	}
}

// answersSurvey notes a contribution that answers a survey.
func (b *book) answersSurvey(a answer, r *wire.Reply) {
	switch k := survey.Answered(r.Rest); {
	case k == survey.None && b.surveys[a]:
		b.w.find("a reply is repeated as it is", "%s: record %d: scalars, and an answer before",
			a.device, a.n)
	case k != survey.None:
		b.surveys[a] = true
		b.w.count("survey reply")
	}
}
