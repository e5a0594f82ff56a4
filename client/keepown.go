package client

import (
	"errors"
	"fmt"
	"io"

	"github.com/zofl/zofl/wire"
)

// errOwnFile: what is stored are no numbers that this device found for this plan.
var errOwnFile = errors.New("no numbers of this device and plan")

// A control file holds LE64 the record that c_i was found for, and c_i, d float32,
// little-endian. A trajectory file holds LE64 the record that w_i was found for, LE32 its
// elements, LE32 the points, w_i, and of each point, oldest first, the d parameters
// as float32 and the loss as float64.
const (
	controlMagic    = "zofl control 1\n"
	trajectoryMagic = "zofl trajectory 1\n"
	trajectoryHead  = 8 + 4 + 4
)

// A recalled is points that came from the store.
type recalled struct {
	x []float32 // of one after the other
	y []float64
}

// keepOwn makes what this device found in dense rounds durable, where that changed.
func (c *Client) keepOwn() error {
	w := &c.est.dense
	plan := c.replica.Plan()
	if !c.shelf.Keeps() || plan == nil || w.of != wire.HashRecord(c.replica.First()) {
		return nil
	}
	if t := w.trajectory; t != nil && (t.fresh || w.own.fresh) {
		err := c.shelf.SaveStream(itemTrajectory, trajectoryMagic, w.of, func(to io.Writer) { writeTrajectory(to, t, &w.own) })
		t.fresh, w.own.fresh = err != nil, err != nil
		return c.shelf.Check(itemTrajectory, err)
	}
	if w.own.fresh && plan.Control == wire.ScaffoldMean {
		err := c.shelf.SaveStream(itemControl, controlMagic, w.of, func(to io.Writer) { put(to, w.own.n, w.own.v) })
		w.own.fresh = err != nil
		return c.shelf.Check(itemControl, err)
	}
	return nil
}

func writeTrajectory(to io.Writer, t *trajectory, own *ownVector) {
	points, d := t.process.Len(), len(t.u)
	put(to, own.n, uint32(len(own.v)), uint32(points+len(t.recalled.y)), own.v)
	x := make([]float32, d)
	for i := range points {
		u, y := t.process.Point(i)
		t.frame.parameters(x, u)
		put(to, x, y)
	}
	for i, y := range t.recalled.y {
		put(to, t.recalled.x[i*d:(i+1)*d], y)
	}
}

// openControl takes the control variate that an earlier process kept.
func (c *Client) openControl(plan *wire.Plan) error {
	w := &c.est.dense
	return c.shelf.LoadStream(itemControl, controlMagic, w.of, errOwnFile, func(from io.Reader, size int64) error {
		if size != 8+4*int64(plan.Dim) {
			return fmt.Errorf("%w: %d bytes", errOwnFile, size)
		}
		own := ownVector{v: make([]float32, plan.Dim)}
		if err := get(from, &own.n, own.v); err != nil {
			return err
		}
		w.own = own
		return nil
	})
}

// openTrajectory takes the points and w_i that an earlier process kept.
func (c *Client) openTrajectory(plan *wire.Plan) error {
	w := &c.est.dense
	return c.shelf.LoadStream(itemTrajectory, trajectoryMagic, w.of, errOwnFile, func(from io.Reader, size int64) error {
		own, kept, err := readTrajectory(from, size, plan)
		if err == nil {
			w.own, w.trajectory.recalled = own, kept
		}
		return err
	})
}

// readTrajectory takes no more memory than size.
func readTrajectory(from io.Reader, size int64, plan *wire.Plan) (own ownVector, kept recalled, err error) {
	var weights, points uint32
	if size < trajectoryHead {
		return own, kept, fmt.Errorf("%w: %d bytes", errOwnFile, size)
	}
	if err := get(from, &own.n, &weights, &points); err != nil {
		return own, kept, err
	}
	d, wanted := int64(plan.Dim), uint32(0)
	if own.n > 0 {
		wanted = plan.Features
	}
	if weights != wanted || size != trajectoryHead+4*int64(weights)+int64(points)*(4*d+8) {
		return own, kept, fmt.Errorf("%w: %d weights and %d points in %d bytes", errOwnFile, weights, points, size)
	}
	own.v = make([]float32, weights)
	if err := get(from, own.v); err != nil {
		return own, kept, err
	}
	kept = recalled{make([]float32, int64(points)*d), make([]float64, points)}
	for i := range kept.y {
		if err := get(from, kept.x[i*int(d):(i+1)*int(d)], &kept.y[i]); err != nil {
			return own, kept, err
		}
	}
	return own, kept, nil
}
