package source

import (
	"slices"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A retained is the vectors that the coordinators of a log keep, which follows from its
// records: the last of the state's path, and after a rollback, until a round follows,
// those that it left, too.
type retained struct {
	path, left []runlog.ObjectName
	plan       wire.Plan // as changed so far
	keeps      []keeping
}

// A keeping is how many vectors stay from record n on.
type keeping struct {
	n    uint64
	most uint32
}

// keep notes the plan after record n.
func (v *retained) keep(n uint64, p *wire.Plan) {
	v.plan = *p
	v.keeps = append(v.keeps, keeping{n, p.DenseKeep})
}

func (v *retained) change(n uint64, c *wire.Change) {
	p := v.plan
	c.Apply(&p)
	v.keep(n, &p)
}

// add takes a round's vector, which displaces older ones.
func (v *retained) add(name runlog.ObjectName) {
	v.path, v.left = append(v.path, name), nil
	v.path = v.path[max(0, len(v.path)-max(int(v.plan.DenseKeep), v.plan.Phases())):]
}

// back takes rollback n to a record, whose path counts is.
func (v *retained) back(n, to uint64, counts []bool) {
	all := slices.Concat(v.path, v.left)
	v.path, v.left = nil, nil
	for _, o := range all {
		if o.N <= to && counts[o.N-1] {
			v.path = append(v.path, o)
		} else {
			v.left = append(v.left, o)
		}
	}
	slices.SortFunc(v.path, byRecord)
	p := v.plan
	for _, k := range v.keeps {
		if k.n <= to {
			p.DenseKeep = k.most
		}
	}
	v.keep(n, &p)
}

// all returns what is kept, ascending by record.
func (v *retained) all() []runlog.ObjectName {
	return slices.SortedFunc(slices.Values(slices.Concat(v.path, v.left)), byRecord)
}

func (v *retained) has(name runlog.ObjectName) bool {
	return slices.Contains(v.path, name) || slices.Contains(v.left, name)
}
