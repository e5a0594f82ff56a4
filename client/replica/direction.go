package replica

import (
	"math"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A Direction is the vector z of one perturbation, with the other values that its distribution
// needs. A Direction is valid until the replica applies the next record.
type Direction struct {
	z     prng.Direction
	kind  plan.Distribution
	norm  float64 // sphere: squared norm of z
	root  float32 // subspace: sqrt(1-alpha)
	coefs [plan.MaxSubspace]float32
	// tau is how many elements of coefs are used, sqrt(alpha) v2[j] for column j of the basis; or
	// ofLowRank.
	tau int
}

// along returns the factor of z in a step of length a along the direction.
func (d *Direction) along(a float32) float32 {
	switch {
	case d.kind == plan.Sphere:
		return prng.SphereScale(a, d.norm)
	case d.tau > 0:
		return float32(a * d.root)
	}
	return a
}

// Parts returns z, scale, coefs and basis of a direction, for a device that knows the gradient of
// its loss. Perturb adds mu times the sum below to x, apart from the segments' scales S and the
// boxes. The parts are valid as long as d is. [Replica.Fill] and [Replica.Dot] generate z.
//
//	scale * z + sum over j of coefs[j] * basis[j]
func (r *Replica) Parts(d *Direction) (prng.Direction, float32, []float32, [][]float32) {
	tau := max(d.tau, 0)
	return d.z, d.along(1), d.coefs[:tau], r.basis[:tau]
}

// slope returns the factor of the estimate g*z. On a sphere the factor is d times larger, because
// the mean of the estimates is only 1/d of the gradient.
func (r *Replica) slope(g float32) float32 {
	if r.plan.Distribution == plan.Sphere {
		return float32(g * float32(r.plan.Dim))
	}
	return g
}

// Direction returns z of record n, local step k, perturbation p. Source is prng.Shared for the
// directions of all devices, prng.Slot for the directions of one slot. The first call for a
// direction on a sphere generates the direction's elements, to measure their norm.
func (r *Replica) Direction(n uint64, k, p int, source uint32) (d Direction) {
	r.setDirection(&d, n, k, p, source)
	return d
}

// tempDirection is like Direction, but the next call reuses the memory of the result. A Direction
// has about 300 bytes.
func (r *Replica) tempDirection(n uint64, k, p int, source uint32) *Direction {
	r.setDirection(&r.tempZ, n, k, p, source)
	return &r.tempZ
}

// setDirection sets all of d except the elements of span beyond tau.
func (r *Replica) setDirection(d *Direction, n uint64, k, p int, source uint32) {
	d.z, d.kind, d.tau = r.address(n, k, p, source), r.plan.Distribution, 0
	switch {
	case d.kind == plan.Sphere:
		d.norm = r.squaredNorm(d.z)
	case d.kind == plan.Subspace && r.hasBasis():
		d.tau, d.root = len(r.basis), root(1-float64(r.plan.SubspaceShare))
		r.coordinates(d)
	case d.kind == plan.LowRank:
		d.tau = ofLowRank
	}
}

// Directions appends z of perturbations [from, to) of local step k to dst. The workers of
// Config.Workers share the passes that measure the norms of a sphere's directions.
func (r *Replica) Directions(dst []Direction, n uint64, k, from, to int,
	source uint32) []Direction {
	if r.plan.Distribution == plan.Sphere {
		r.wanted = r.wanted[:0]
		for p := from; p < to; p++ {
			r.wantNorm(r.address(n, k, p, source))
		}
		r.measureNorms()
	}
	for p := from; p < to; p++ {
		dst = append(dst, r.Direction(n, k, p, source))
	}
	return dst
}

// address returns the address of z of record n, local step k, perturbation p.
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
		return r.poolDirection(poolIndex(&z, r.plan.Pool))
	}
	return z
}

// recordKey returns the key of record n. The replica keeps the key of the last call.
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
	v2 := d.coefs[:d.tau]
	prng.Fill(v2, z, 0)
	mathx.Scale(v2, root(float64(r.plan.SubspaceShare)), v2)
}

// root returns the standard deviation for this part of the variance.
func root(part float64) float32 { return float32(math.Sqrt(part)) }
