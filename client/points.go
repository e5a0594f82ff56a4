package client

import "fmt"

// Points are the parameter vectors at which a local step takes losses. Of central
// differences these are x + mu z_0, x - mu z_0, x + mu z_1, and so on; of forward
// ones x, x + mu z_0, x + mu z_1, and so on; of a surrogate its local iterate, or the
// queries around that. They exist only as they are read, under the terms of a [Point].
type Points struct {
	v      view
	length int
}

// Len is the number of points: of a round of P perturbations 2P with central
// differences, and 1+P with forward ones; of a surrogate 1, and then as many as are
// queried around the iterate.
func (p *Points) Len() int { return p.length }

// Dim is the number of parameters.
func (p *Points) Dim() int { return p.v.source.dim }

// Read writes parameters off, off+1, ... of every point: dst[i][j] is parameter
// off+j of point i. dst has [Points.Len] elements, all as long as each other; a nil
// dst[i] is left out. Each direction is generated once, and x comes from memory once,
// for however many blocks. Offsets and lengths that are multiples of 4096 are the
// fastest: to begin within a block takes as long as to begin with it. Long reads use
// [Config].Workers; several goroutines of the app may read at once, and where each
// reads a block after another that is faster yet.
//
//	for i := range dst {
//		for j := range dst[i] {
//			dst[i][j] = x[off+j] + mu[i]*z[i][off+j]
//		}
//	}
func (p *Points) Read(dst [][]float32, off int) error {
	n, err := p.count(dst)
	if err != nil {
		return err
	}
	s, err := p.v.open(n, off)
	if err != nil {
		return err
	}
	defer s.mu.RUnlock()
	if len(s.chosen) == 0 {
		s.replica.PerturbAll(dst, off, n, &s.points)
		return nil
	}
	for i, x := range s.chosen {
		if dst[i] != nil {
			copy(dst[i], x[off:])
		}
	}
	return nil
}

// count returns how many parameters of each point dst takes.
func (p *Points) count(dst [][]float32) (n int, err error) {
	if len(dst) != p.length {
		return 0, fmt.Errorf("client: read of %d points of %d: give dst one element for each, nil to leave it out",
			len(dst), p.length)
	}
	first := -1
	for i, d := range dst {
		switch {
		case d == nil:
		case first < 0:
			first, n = i, len(d)
		case len(d) != n:
			return 0, fmt.Errorf("client: read of %d parameters of point %d and %d of point %d: give all dst one length",
				n, first, len(d), i)
		}
	}
	return n, nil
}
