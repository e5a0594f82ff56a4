package client

import (
	"errors"
	"fmt"
	"sync"
)

// ErrRevoked: the loss call that a [Point] was made for is over.
var ErrRevoked = errors.New("client: the round of this point is over")

// A Point is a parameter vector x + mu z that exists only as it is read.
// It is valid during the loss call that it was made for; after that Read
// returns [ErrRevoked].
type Point struct {
	dim  int
	mu   sync.Mutex // guards read
	read func(dst []float32, off int)
}

// Dim is the number of parameters.
func (p *Point) Dim() int { return p.dim }

// Read writes parameters off, off+1, ..., off+len(dst)-1 to dst. Offsets that
// are multiples of 4096 are the fastest.
func (p *Point) Read(dst []float32, off int) error {
	if off < 0 || len(dst) > p.dim-off {
		return fmt.Errorf("client: read of parameters %d..%d of %d", off, off+len(dst), p.dim)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read == nil {
		return ErrRevoked
	}
	p.read(dst, off)
	return nil
}

// revoke ends the point's validity; no read is under way when it returns.
func (p *Point) revoke() {
	p.mu.Lock()
	p.read = nil
	p.mu.Unlock()
}
