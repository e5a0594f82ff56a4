package replica

import (
	"math"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A Direction is z of a local step: what it is made of, and what its distribution
// makes of that. It is a value, good until the next record.
type Direction struct {
	z    prng.Direction
	kind wire.Distribution
	norm float64 // of a sphere: squared norm of z
	root float32 // of a subspace: sqrt(1-alpha)
	span [wire.MaxSubspace]float32
	tau  int // elements of span: sqrt(alpha) v2[j], of each column of the basis
}

// along returns what z is multiplied by to go a along the direction.
func (d *Direction) along(a float32) float32 {
	switch {
	case d.kind == wire.Sphere:
		return prng.SphereScale(a, d.norm)
	case d.tau > 0:
		return float32(a * d.root)
	}
	return a
}

// slope returns the factor of the estimate g*z: d of a sphere, whose mean is only
// 1/d of the gradient otherwise.
func (r *Replica) slope(g float32) float32 {
	if r.plan.Distribution == wire.Sphere {
		return float32(g * float32(r.plan.Dim))
	}
	return g
}

// Direction returns z of record n, local step k, perturbation p: that of all
// devices for prng.Shared, of a slot's own for prng.Slot. A sphere's takes a pass
// over it the first time.
func (r *Replica) Direction(n uint64, k, p int, source uint32) (d Direction) {
	r.aim(&d, n, k, p, source)
	return d
}

// aimed is Direction in memory that the next one takes: a Direction is some 300 bytes.
func (r *Replica) aimed(n uint64, k, p int, source uint32) *Direction {
	r.aim(&r.aiming, n, k, p, source)
	return &r.aiming
}

// aim sets all of d but elements of span beyond tau.
func (r *Replica) aim(d *Direction, n uint64, k, p int, source uint32) {
	d.z, d.kind, d.tau = r.address(n, k, p, source), r.plan.Distribution, 0
	switch {
	case d.kind == wire.Sphere:
		d.norm = r.squaredNorm(d.z)
	case d.kind == wire.Subspace && r.spanned():
		d.tau = len(r.basis)
		d.root = root(1 - float64(r.plan.SubspaceShare))
		r.coordinates(d)
	}
}

// Directions appends z of perturbations [from, to) of local step k to dst. Passes
// that spheres take are shared out to Config.Workers.
func (r *Replica) Directions(dst []Direction, n uint64, k, from, to int, source uint32) []Direction {
	if r.plan.Distribution == wire.Sphere {
		r.wanted = r.wanted[:0]
		for p := from; p < to; p++ {
			r.want(r.address(n, k, p, source))
		}
		r.measure()
	}
	for p := from; p < to; p++ {
		dst = append(dst, r.Direction(n, k, p, source))
	}
	return dst
}

// address returns what names z of record n, local step k, perturbation p.
func (r *Replica) address(n uint64, k, p int, source uint32) prng.Direction {
	z := prng.Direction{
		Key:          r.recordKey(n),
		Step:         uint16(k),
		Perturbation: uint16(p),
		Source:       source,
		Domain:       prng.Directions,
		Dist:         r.plan.Distribution.Elements(),
	}
	if r.plan.Pool > 0 {
		return r.pooled(poolIndex(&z, r.plan.Pool))
	}
	return z
}

// recordKey keeps the keys of two records, for those whose terms are of both.
func (r *Replica) recordKey(n uint64) prng.Key {
	if r.keyN != n {
		r.keyN, r.key = n, r.keys.Key(n)
	}
	return r.key
}

// coordinates sets span to sqrt(alpha) v2.
func (r *Replica) coordinates(d *Direction) {
	z := d.z
	z.Domain = prng.Subspace
	v2 := d.span[:d.tau]
	prng.Fill(v2, z, 0)
	mathx.Scale(v2, root(float64(r.plan.SubspaceShare)), v2)
}

// root is that of a part of the variance.
func root(part float64) float32 { return float32(math.Sqrt(part)) }
