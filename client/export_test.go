package client

import (
	"math"

	"github.com/zofl/zofl/client/replica"
)

// FlipBit changes one bit of a parameter, as bad memory does.
func (c *Client) FlipBit(i int) {
	c.follower.View(func(r *replica.Replica) {
		if x := r.Params(); i < len(x) {
			x[i] = math.Float32frombits(math.Float32bits(x[i]) ^ 1<<20)
		}
	})
}

// Unproven returns the record of the snapshot that the state began with.
func (c *Client) Unproven() uint64 { return c.follower.Unproven() }

// Downloading says whether a snapshot is being downloaded.
func (c *Client) Downloading() bool { return c.follower.Downloading() }
