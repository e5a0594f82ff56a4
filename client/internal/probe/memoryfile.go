package probe

import (
	"errors"
	"fmt"
	"io"

	"github.com/zofl/zofl/plan"
)

// ErrMemory says that stored numbers are not ones that this device computed for this plan.
var ErrMemory = errors.New("not numbers of this device and plan")

// A stored memory has one of two forms, both little-endian:
//
//   - With a surrogate: LE64 the record that w_i was computed for, LE32 the number of its
//     elements, LE32 the number of points, w_i as float32, and for each point, oldest first,
//     d parameters as float32 and the loss as float64.
//   - With scaffold-2: LE64 the record that c_i was computed for, and c_i as d float32.

// trajectoryHead is the number of bytes before w_i.
const trajectoryHead = 8 + 4 + 4

// storedPoints are a trajectory's points in the form in which the store holds them.
type storedPoints struct {
	x []float32 // d parameters of each point, one point after the other
	y []float64
}

// Keeps says whether the device must store a memory after rounds of a plan.
func Keeps(plan *plan.Plan) bool { return transportOf(plan).keeps(plan) }

// Unsaved says whether the memory changed since the device stored it.
func (m *Memory) Unsaved() bool {
	return m.own.unsaved || m.trajectory != nil && m.trajectory.unsaved
}

// Saved notes that the device has stored the memory.
func (m *Memory) Saved() {
	m.own.unsaved = false
	if m.trajectory != nil {
		m.trajectory.unsaved = false
	}
}

// Save writes the memory. Save ignores errors: the writer must keep its first error.
func (m *Memory) Save(to io.Writer) {
	if m.trajectory != nil {
		writeTrajectory(to, m.trajectory, &m.own)
		return
	}
	put(to, m.own.n, m.own.v)
}

// Load reads a stored memory of size bytes. The error matches [ErrMemory] if the numbers do not fit
// the plan. Load allocates no more than size bytes.
func (m *Memory) Load(from io.Reader, size int64, plan *plan.Plan) (err error) {
	var own ownVector
	if m.trajectory != nil {
		var points storedPoints
		if own, points, err = readTrajectory(from, size, plan); err == nil {
			m.trajectory.stored = points
		}
	} else {
		own, err = readControl(from, size, plan)
	}
	if err == nil {
		m.own = own
	}
	return err
}

func writeTrajectory(to io.Writer, t *trajectory, own *ownVector) {
	points, d := t.process.Len(), len(t.u)
	put(to, own.n, uint32(len(own.v)), uint32(points+len(t.stored.y)), own.v)
	x := make([]float32, d)
	for i := range points {
		u, y := t.process.Point(i)
		t.frame.Parameters(x, u)
		put(to, x, y)
	}
	for i, y := range t.stored.y {
		put(to, t.stored.x[i*d:(i+1)*d], y)
	}
}

func readControl(from io.Reader, size int64, plan *plan.Plan) (own ownVector, err error) {
	if size != 8+4*int64(plan.Dim) {
		return own, fmt.Errorf("%w: %d bytes, want %d", ErrMemory, size, 8+4*plan.Dim)
	}
	own.v = make([]float32, plan.Dim)
	return own, get(from, &own.n, own.v)
}

func readTrajectory(
	from io.Reader, size int64, plan *plan.Plan,
) (own ownVector, points storedPoints, err error) {
	var weights, count uint32
	if size < trajectoryHead {
		return own, points, fmt.Errorf("%w: %d bytes", ErrMemory, size)
	}
	if err := get(from, &own.n, &weights, &count); err != nil {
		return own, points, err
	}
	d, wanted := int64(plan.Dim), uint32(0)
	if own.n > 0 {
		wanted = plan.Features
	}
	point := 4*d + 8
	if weights != wanted || int64(count) > size/point || // else the product may overflow
		size != trajectoryHead+4*int64(weights)+int64(count)*point {
		return own, points, fmt.Errorf("%w: %d weights and %d points in %d bytes",
			ErrMemory, weights, count, size)
	}
	own.v = make([]float32, weights)
	if err := get(from, own.v); err != nil {
		return own, points, err
	}
	points = storedPoints{make([]float32, int64(count)*d), make([]float64, count)}
	for i := range points.y {
		if err := get(from, points.x[i*int(d):(i+1)*int(d)], &points.y[i]); err != nil {
			return own, points, err
		}
	}
	return own, points, nil
}
