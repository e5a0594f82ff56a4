package runlog

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// vectorNames are the names of the vectors that a log keeps. The names depend on the records alone,
// so every coordinator of a log keeps and deletes the same vectors.
//
// Invariants:
//  1. path holds the newest vectors on the path to the last record, ascending by N, without gaps:
//     at most DenseKeep, and at least one of each phase if there were any.
//  2. left holds the vectors that the last rollback took off the path, until a round follows that
//     rollback. Another rollback may return to these vectors.
type vectorNames struct {
	path, left []ObjectName
}

// add notes a round's vector, and keeps the newest keep vectors.
func (v *vectorNames) add(name ObjectName, keep int) {
	v.path, v.left = append(v.path, name), nil
	v.path = v.path[max(0, len(v.path)-keep):]
}

// back moves the vectors that a rollback undoes from path to left. has says whether record n is on
// the path to which the rollback returns.
func (v *vectorNames) back(has func(n uint64) bool) {
	all := v.all()
	v.path, v.left = nil, nil
	for _, o := range all {
		if has(o.N) {
			v.path = append(v.path, o)
		} else {
			v.left = append(v.left, o)
		}
	}
}

// all returns all names, ascending by N.
func (v *vectorNames) all() []ObjectName {
	all := slices.Concat(v.path, v.left)
	slices.SortFunc(all, func(a, b ObjectName) int { return cmp.Compare(a.N, b.N) })
	return all
}

func (v *vectorNames) has(n uint64) bool {
	is := func(o ObjectName) bool { return o.N == n }
	return slices.ContainsFunc(v.path, is) || slices.ContainsFunc(v.left, is)
}

// find returns the name that has the given digest.
func (v *vectorNames) find(digest [wire.ObjectLen]byte) (ObjectName, bool) {
	for _, list := range [][]ObjectName{v.path, v.left} {
		for _, o := range slices.Backward(list) {
			if o.Digest == digest {
				return o, true
			}
		}
	}
	return ObjectName{}, false
}

// hasVectors says whether the rounds of a plan make vectors, which the log has to store.
func hasVectors(p *plan.Plan) bool { return p.Transport == plan.DenseVectors }

// retain updates the names of vectors after a record. A round adds a vector, and a rollback returns
// to older vectors.
func (p *Position) retain(r *wire.Record) {
	switch {
	case !hasVectors(&p.Plan):
	case r.Kind == wire.KindRound:
		name := ObjectName{N: r.N, Epoch: r.Epoch, Digest: [wire.ObjectLen]byte(r.Round.Object)}
		p.vectors.add(name, max(int(p.Plan.DenseKeep), p.Plan.Phases()))
	case r.Kind == wire.KindRollback:
		p.vectors.back(func(n uint64) bool {
			_, ok := p.history.round(n, r.To)
			return ok
		})
	}
}

// Lacks returns a record whose vector the state after record n needs, although the log no longer
// keeps that vector. Lacks returns 0 if the log keeps all vectors that the state needs: the last
// vector of each phase.
func (p *Position) Lacks(n uint64) uint64 {
	if !hasVectors(&p.Plan) {
		return 0
	}
	for _, round := range p.history.last(n, p.Plan.Phases()) {
		if !p.vectors.has(round) {
			return round
		}
	}
	return 0
}

// Vectors returns the names of the vectors that the log keeps, ascending by record.
func (p *Position) Vectors() []ObjectName { return p.vectors.all() }

// Vector returns the name of the vector that has the given digest, if the log keeps that vector.
func (p *Position) Vector(digest [wire.ObjectLen]byte) (ObjectName, bool) {
	return p.vectors.find(digest)
}
