package client

import (
	"io"

	"github.com/zofl/zofl/client/internal/seal"
	"github.com/zofl/zofl/wire"
)

// snapshotSize is how long a snapshot is, about. Of a seed pool it is that after a
// rebase, which has the coefficients alone.
func (c *Client) snapshotSize() uint64 {
	least, _ := stateSize(c.replica.Plan())
	return least + snapshotHead
}

// stateSize bounds what the vectors and registers of a plan's state take in a file.
func stateSize(plan *wire.Plan) (least, most uint64) {
	vectors := 4 * uint64(plan.Vectors()) * plan.Dim
	switch {
	case plan.Pool > 0:
		coefficients := 8 * (uint64(plan.Pool) + 1)
		return coefficients, vectors + 2*coefficients
	case plan.Estimator == wire.Surrogate:
		vectors += 8 * (1 + uint64(plan.Features))
		return vectors, vectors
	case plan.Control == wire.ScaffoldPoint:
		return vectors, vectors + 8*(wire.MaxScalars+1)
	}
	return vectors, vectors
}

// saveSnapshot writes the state to w, sealed in a private run.
func (c *Client) saveSnapshot(w io.Writer) error {
	if !c.seals() {
		return c.replica.Save(w, c.history())
	}
	s, err := seal.NewWriter(w, c.cfg.RunKey)
	if err != nil {
		return err
	}
	if err := c.replica.Save(s, c.history()); err != nil {
		return err
	}
	return s.Close()
}

// seals says whether snapshots are sealed: in a private run, which a client with a
// run key is of.
func (c *Client) seals() bool { return len(c.cfg.RunKey) > 0 }

// content reads the state file that a snapshot holds.
func (c *Client) content(r io.Reader, size int64) io.Reader {
	if !c.seals() {
		return r
	}
	return seal.NewReader(r, c.cfg.RunKey, uint64(size))
}

// contentSize returns the length of the state file in a snapshot of size bytes; false:
// there is none of that length.
func (c *Client) contentSize(size uint64) (uint64, bool) {
	if !c.seals() {
		return size, true
	}
	return seal.PlainSize(size)
}
