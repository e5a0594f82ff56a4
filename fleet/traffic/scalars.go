package traffic

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
	"github.com/zofl/zofl/wire/survey"
)

// scalars counts the scalars of a contribution or a term, of precision p. If scalars share a scale,
// their number depends on P as well as on their bytes: a first phase has one block of P scalars,
// and any other phase has one such block for each local step.
func (m *Meter) scalars(p plan.Precision, s wire.Scalars, perturbations uint32) uint64 {
	if !p.Quantized() {
		return uint64(max(p.Len(s), 0))
	}
	for _, blocks := range []uint32{m.plan.Steps, 1} {
		if p.Fits(s, int(blocks), int(perturbations)) {
			return uint64(blocks) * uint64(perturbations)
		}
	}
	return 0
}

// contributed counts the scalars of a contribution, with its control variate. An answer to a survey
// has single precision in any plan.
func (m *Meter) contributed(r *wire.Reply) uint64 {
	if survey.Answered(r.Rest) != survey.None {
		return uint64(plan.Single.Len(r.Values))
	}
	n := m.scalars(m.plan.Precision, r.Values, m.asked)
	if v, ok := r.Control(); ok {
		n += m.scalars(m.plan.Precision, v.Scalars, m.asked)
	}
	return n
}

// announced counts the scalars of the rounds in an announcement's records.
func (m *Meter) announced(a *compact.Announcement) uint64 {
	if !a.Compact() {
		return m.records(a.Records)
	}
	r, err := a.Read()
	if err != nil {
		return 0
	}
	return m.round(r.Round)
}

// records counts the scalars of the rounds among records.
func (m *Meter) records(records wire.Records) (n uint64) {
	records.Each(func(record []byte) bool {
		r, err := wire.DecodeRecord(record)
		if err == nil && r.Kind == wire.KindRound {
			n += m.round(r.Round)
		}
		return true
	})
	return n
}

func (m *Meter) round(r *wire.Round) (n uint64) {
	for _, t := range r.Terms {
		n += m.scalars(m.plan.TermPrecision(), t.Scalars, r.Perturbations)
	}
	return n
}
