package lossprogram

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// factors are what a direction of a plan with distribution=lowrank is made of. The zero value says
// that the program gets points.
type factors struct {
	count  int    // signs of a direction
	shapes string // of the segments, as map tells them
	points int    // of a local step
}

// factorsOf returns the factors of a plan's directions, or the zero value if a point is not x plus
// a multiple of one direction of rank 1.
func factorsOf(p *plan.Plan) (f factors) {
	if !p.OnRays() {
		return f
	}
	var shapes []string
	for _, s := range p.Layout() {
		if s.Rows == 0 {
			f.count += int(s.Len)
			shapes = append(shapes, strconv.FormatUint(s.Len, 10))
		} else {
			f.count += int(s.Rows + s.Columns())
			shapes = append(shapes, fmt.Sprintf("%dx%d", s.Rows, s.Columns()))
		}
	}
	f.shapes = strings.Join(shapes, ",")
	if f.points = int(p.Perturbations) + 1; p.Difference == plan.Central {
		f.points = 2 * int(p.Perturbations)
	}
	return f
}

// TakesFactors says whether the program takes the factors of directions in place of points. A
// program with gradients shares a file with zofl in which a gradient has room, and so gets points.
func (p *Program) TakesFactors() bool { return p.hello.factors && !p.hello.gradient }

// Plan tells what plan the next requests are of.
func (p *Program) Plan(at *plan.Plan) {
	if !p.TakesFactors() {
		return
	}
	f := factorsOf(at)
	p.mu.Lock()
	p.factors = f
	p.mu.Unlock()
}

// Accept tells the program of a plan, like Plan and Scale. It never fails: it is a
// [client.Config].Accept.
func (p *Program) Accept(at *plan.Plan) error {
	p.Plan(at)
	if !p.HasColumns() {
		return nil
	}
	return p.Scale(at)
}

// shapeFor returns the shape of the file for requests of so many points.
func (p *Program) shapeFor(points int) shape {
	p.mu.Lock()
	f := p.factors
	p.mu.Unlock()
	if f.count > 0 { // points take few bytes: a file for all of a step's points lasts
		points = max(points, min(f.points, p.hello.points))
	}
	return shape{p.dim, points, f}
}

// lossesNear asks for the losses at points, which the program gets as x and factors.
func (d *device) lossesNear(
	ctx context.Context, t *talk, file *sharedFile, x *objective.Points, b objective.Batch,
	losses []float64,
) error {
	rays, ok, err := x.Rays()
	switch {
	case err != nil:
		return err
	case !ok:
		return d.lossesAlone(ctx, t, file, x, b, losses)
	}
	if err := d.p.setX(file, rays.X, func(to []float32) error { return x.ReadX(to, 0) }); err != nil {
		return err
	}
	for from := 0; from < len(losses); from += file.points {
		n := min(file.points, len(losses)-from)
		if err := file.check(); err != nil {
			return err
		}
		for i, signs := range rays.Signs[from : from+n] {
			if signs != nil && len(signs) < (file.factors.count+63)/64 {
				return fmt.Errorf("points of %d factors: the plan has %d", 64*len(signs), file.factors.count)
			}
			expand(file.signs(i), signs)
		}
		err := d.askNear(ctx, t, file, b, rays.Scales[from:from+n], losses[from:from+n])
		if err != nil {
			return err
		}
	}
	return nil
}

// lossesAlone asks for the losses at points that lie on no ray. Each is x of a request.
func (d *device) lossesAlone(
	ctx context.Context, t *talk, file *sharedFile, x *objective.Points, b objective.Batch,
	losses []float64,
) error {
	for i := range losses {
		err := d.p.setX(file, "", func(to []float32) error {
			points := make([][]float32, x.Len())
			points[i] = to
			return x.Read(points, 0)
		})
		if err != nil {
			return err
		}
		if err := d.askNear(ctx, t, file, b, []float32{0}, losses[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// askNear asks for the losses at points with these scales.
func (d *device) askNear(
	ctx context.Context, t *talk, file *sharedFile, b objective.Batch, scales []float32,
	losses []float64,
) error {
	texts := make([]string, len(scales))
	for i, s := range scales {
		texts[i] = strconv.FormatFloat(float64(s), 'g', -1, 32)
	}
	words, err := t.ask(ctx, fmt.Sprintf("loss %s points=%d scales=%s%s left=%s", d.batch(b),
		len(scales), strings.Join(texts, ","), file.written(), left(ctx)), "loss")
	if err != nil {
		return err
	}
	return lossesOf(losses, words)
}

// setX makes a file of factors hold an x, which read writes. A file that holds the vector of that
// name already stays as it is; "" is no name.
func (p *Program) setX(file *sharedFile, name string, read func(to []float32) error) error {
	if name != "" && name == file.holds {
		return nil
	}
	if err := file.check(); err != nil {
		return err
	}
	p.writes++
	file.holds, file.writes = "", p.writes
	if err := read(file.point(0)); err != nil {
		return err
	}
	file.holds = name
	return nil
}

// written is the argument of a request that changes when x may have changed.
func (s *sharedFile) written() string {
	if s.factors.count == 0 {
		return ""
	}
	return fmt.Sprintf(" x=%d", s.writes)
}

// eightSigns has the bytes of eight signs for each byte of bits: 1 for a bit of 0, and else -1.
var eightSigns = func() (table [256]uint64) {
	const one, minus = 0x01, 0xff
	for bits := range table {
		for i := range 8 {
			sign := uint64(one)
			if bits>>i&1 == 1 {
				sign = minus
			}
			table[bits] |= sign << (8 * i)
		}
	}
	return table
}()

// expand writes signs as bytes. Bit e%64 of word e/64 becomes byte e. Without signs, expand writes
// nothing: the point is x itself.
func expand(to []byte, signs []uint64) {
	if signs == nil {
		return
	}
	for ; len(to) >= 64; to, signs = to[64:], signs[1:] {
		for i, word := 0, signs[0]; i < 64; i, word = i+8, word>>8 {
			binary.LittleEndian.PutUint64(to[i:], eightSigns[byte(word)])
		}
	}
	for i := range to {
		to[i] = byte(eightSigns[byte(signs[0]>>i)])
	}
}
