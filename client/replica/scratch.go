package replica

import "github.com/zofl/zofl/plan"

// scratch is the memory for the blocks that a worker computes.
type scratch struct {
	v, start, drift, corrected, older []float32
}

// of returns the vectors of s, each limited to its first n elements.
func (s *scratch) of(n int) scratch {
	cut := func(b []float32) []float32 { return b[:min(n, len(b))] }
	return scratch{cut(s.v), cut(s.start), cut(s.drift), cut(s.corrected), cut(s.older)}
}

// allocateScratch allocates, for each worker, the scratch that the plan's moves need.
func (r *Replica) allocateScratch() {
	if r.hasScratch {
		return
	}
	r.hasScratch = true
	p := &r.plan
	r.scratch = make([]scratch, r.team.Workers())
	n := min(r.generator.tile, len(r.x))
	r.needsBase = p.Prox != 0 || p.ServerRule.Steps() || p.Distribution == plan.Subspace
	for i := range r.scratch {
		s := &r.scratch[i]
		s.v = make([]float32, n)
		if r.needsBase || r.pool != nil {
			s.start = make([]float32, n)
		}
		if p.Prox != 0 {
			s.drift = make([]float32, n)
		}
		if p.Control != plan.NoControl {
			s.corrected, s.older = make([]float32, n), make([]float32, n)
		}
	}
}
