package client

import "math"

// FlipBit changes one bit of a parameter, as bad memory does.
func (c *Client) FlipBit(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.replica.Params()
	if i >= len(x) {
		return
	}
	x[i] = math.Float32frombits(math.Float32bits(x[i]) ^ 1<<20)
}

// Unproven returns the record of the snapshot that the state began with.
func (c *Client) Unproven() uint64 { return c.unproven }

// Downloading says whether a snapshot is under way.
func (c *Client) Downloading() bool { return c.snapshots.download != nil }

// A Part is a vector that comes in pieces.
type Part struct{ part }

func (p *Part) Take(piece []byte, size uint64) { p.take(piece, size) }
func (p *Part) Len() int                       { return len(p.data) }
func (p *Part) Cap() int                       { return cap(p.data) }
