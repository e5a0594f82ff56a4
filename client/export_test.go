package client

import (
	"math"

	"github.com/zofl/zofl/client/replica"
)

// FlipBit changes one bit of a parameter, as a memory fault does.
func (c *Client) FlipBit(i int) {
	c.follower.View(func(r *replica.Replica) {
		if x := r.Params(); i < len(x) {
			x[i] = math.Float32frombits(math.Float32bits(x[i]) ^ 1<<20)
		}
	})
}

// Unproven returns the record of the snapshot with which the state began.
func (c *Client) Unproven() uint64 { return c.follower.Unproven() }

// Downloading says whether the client is downloading a snapshot.
func (c *Client) Downloading() bool { return c.follower.Downloading() }
