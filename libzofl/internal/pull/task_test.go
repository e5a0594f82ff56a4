package pull

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/half"
	"github.com/zofl/zofl/plan"
)

// bare is a device whose client a test plays.
func bare(dim uint64) *Device {
	return &Device{cfg: Config{Dim: dim, Weight: 7}, changed: make(chan struct{})}
}

// vectors are points that differ in every element.
func vectors(count, dim int) [][]float32 {
	all := make([][]float32, count)
	for i := range all {
		all[i] = make([]float32, dim)
		for j := range all[i] {
			all[i][j] = float32(i+1)*0.37 + float32(j)*1.0009
		}
	}
	return all
}

// step asks a device for the losses of points, as a client does.
func step(ctx context.Context, d *Device, points [][]float32) (
	losses []float64, done <-chan error,
) {
	losses = make([]float64, len(points))
	end := make(chan error, 1)
	go func() {
		end <- lossesOf(d).LossesAt(ctx, objective.NewPoints(points...),
			objective.Batch{N: 9, Step: 2, Size: 5, Seed: 77}, losses)
	}()
	return losses, end
}

func lossesOf(d *Device) losses { return losses{d} }

// poll waits for a task.
func poll(t *testing.T, d *Device) Task {
	t.Helper()
	code, task, err := d.Poll(time.Minute)
	if code != Evaluate || err != nil {
		t.Fatalf("code %d, %v, want a task", code, err)
	}
	return task
}

func TestLosses(t *testing.T) {
	d, points := bare(3), vectors(4, 3)
	for _, together := range []bool{false, true} {
		got, done := step(t.Context(), d, points)
		want := []float64{1, 2, math.Inf(1), 4}
		for i, loss := range want {
			task := poll(t, d)
			if again := poll(t, d); again != task {
				t.Errorf("%+v, then %+v, want the same task", task, again)
			}
			if task != (Task{Size: 3, Record: 9, Seed: 77, Batch: 5, Step: 2, Point: uint32(i), Points: 4,
				Left: -1}) {
				t.Errorf("point %d: %+v", i, task)
			}
			if together {
				if err := d.Losses(want[:3]); Of(err) != Value {
					t.Errorf("three losses of four points: %v", err)
				}
				if err := d.Losses(want); err != nil {
					t.Fatal(err)
				}
				break
			}
			if err := d.Loss(loss); err != nil {
				t.Fatal(err)
			}
			if err := d.Losses(want); Of(err) != State {
				t.Errorf("all losses after one: %v", err)
			}
		}
		if err := <-done; err != nil || !slices.Equal(got, want) {
			t.Errorf("losses %v, %v, want %v", got, err, want)
		}
		if err := d.Loss(1); Of(err) != State {
			t.Errorf("a loss without a task: %v", err)
		}
	}
}

// TestRoundOver: a task whose round is over is taken back, and the app is told.
func TestRoundOver(t *testing.T) {
	d := bare(3)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	_, done := step(ctx, d, vectors(2, 3))
	if left := poll(t, d).Left; left < 3_000_000 || left > 3_600_000 {
		t.Errorf("%d ms left, want an hour", left)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v", err)
	}
	var x [3]float32
	if err := d.Point(-1, F32, unsafe.Pointer(&x), 0, 3); Of(err) != State {
		t.Errorf("a read after the round: %v", err)
	}
	if code, _, err := d.Poll(0); code != Wait || err != nil {
		t.Errorf("code %d, %v, want to wait", code, err)
	}
}

func TestDecline(t *testing.T) {
	d := bare(3)
	_, done := step(t.Context(), d, vectors(2, 3))
	poll(t, d)
	if err := d.Decline(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != errDeclined {
		t.Errorf("the client got %v", err)
	}
}

func TestMetrics(t *testing.T) {
	d := bare(3)
	for _, names := range [][]string{{"loss"}, {"loss", "accuracy"}} {
		var p plan.Plan
		p.Metrics = names
		d.accept(&p)
		done := make(chan error, 1)
		var values []float64
		var samples int
		go func() {
			var err error
			values, samples, err = measured{losses{d}}.Evaluate(t.Context(), []float32{1, 2, 3})
			done <- err
		}()
		if task := poll(t, d); !task.HeldOut || task.Metrics != uint32(len(names)) || task.Size != 3 {
			t.Errorf("%+v", task)
		}
		var x [2]float32
		if err := d.Points(F32, unsafe.Pointer(&x), 1, 2); err != nil || x != [2]float32{2, 3} {
			t.Errorf("read %v, %v", x, err)
		}
		if err := d.Losses([]float64{1}); Of(err) != State {
			t.Errorf("losses in place of metrics: %v", err)
		}
		want, weight := []float64{3}, 7
		if len(names) == 1 {
			if err := d.Loss(3); err != nil {
				t.Error(err)
			}
		} else {
			want, weight = []float64{3, 0.5}, 12
			if err := d.Loss(3); Of(err) != State {
				t.Errorf("one of two metrics: %v", err)
			}
			if err := d.Metrics(want, 0); Of(err) != Value {
				t.Errorf("no samples: %v", err)
			}
			if err := d.Metrics(want, 12); err != nil {
				t.Error(err)
			}
		}
		if err := <-done; err != nil || !slices.Equal(values, want) || samples != weight {
			t.Errorf("the client got %v, %d, %v", values, samples, err)
		}
	}
}

// TestReads: every way to read gives the same parameters, in each type, at any offset.
func TestReads(t *testing.T) {
	const count, dim = 3, 9001
	d, points := bare(dim), vectors(count, dim)
	_, done := step(t.Context(), d, points)
	poll(t, d)
	for _, form := range []Type{F32, F16, BF16} {
		for _, at := range [][2]int{{0, dim}, {0, 0}, {4095, 4098}, {8999, 2}, {dim, 0}, {1, 4096}} {
			off, n := at[0], at[1]
			all := make([]byte, form.Width()*n*count+8)
			one := make([]byte, form.Width()*n+8)
			if err := d.Points(form, unsafe.Pointer(&all[0]), uint64(off), uint64(n)); err != nil {
				t.Fatal(err)
			}
			for i := range count {
				if err := d.Point(int64(i), form, unsafe.Pointer(&one[0]), uint64(off), uint64(n)); err != nil {
					t.Fatal(err)
				}
				if got := all[form.Width()*n*i:]; !slices.Equal(got[:form.Width()*n], one[:form.Width()*n]) {
					t.Errorf("type %d, [%d, %d) of point %d differs from that of all points", form, off,
						off+n, i)
				}
				for j := range n {
					if want := bytesOf(form, points[i][off+j]); string(one[form.Width()*j:][:len(want)]) !=
						string(want) {
						t.Fatalf("type %d, element %d of point %d is wrong", form, off+j, i)
					}
				}
			}
			if tail := all[form.Width()*n*count:]; string(tail) != string(make([]byte, 8)) {
				t.Errorf("type %d, [%d, %d): bytes after the end were written", form, off, off+n)
			}
		}
	}
	var x [8]float32
	to := unsafe.Pointer(&x)
	for name, err := range map[string]error{
		"beyond the end": d.Point(-1, F32, to, dim-1, 2),
		"far beyond":     d.Points(F32, to, math.MaxUint64, 1),
		"so many":        d.Points(F32, to, 1, math.MaxUint64),
		"no array":       d.Point(-1, F32, nil, 0, 1),
		"type":           d.Point(-1, 3, to, 0, 1),
		"alignment":      d.Point(-1, F32, unsafe.Add(to, 2), 0, 1),
		"point":          d.Point(count, F32, to, 0, 1),
	} {
		if Of(err) != Value {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.Decline()
	<-done
}

// bytesOf returns an element as a type has it.
func bytesOf(form Type, x float32) []byte {
	if form == F32 {
		bits := math.Float32bits(x)
		return []byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)}
	}
	h := half.Of(x)
	if form == BF16 {
		h = uint16(nearest(x))
	}
	return []byte{byte(h), byte(h >> 8)}
}

// nearest returns the bfloat16 nearest to x, the even one of two: it compares the two around x.
func nearest(x float32) uint32 {
	low := math.Float32bits(x) >> 16
	a := float64(math.Float32frombits(low << 16))
	b := float64(math.Float32frombits((low + 1) << 16))
	switch down, up := math.Abs(float64(x)-a), math.Abs(b-float64(x)); {
	case down < up, down == up && low%2 == 0:
		return low
	}
	return low + 1
}

func TestBfloat(t *testing.T) {
	for _, x := range []float32{0, 1, -1, 1.00390625, 1.01171875, 3.14159, -65504, 1e-40, 1e38, 0.1} {
		if got, want := bfloat(x), uint16(nearest(x)); got != want {
			t.Errorf("%v: %04x, want %04x", x, got, want)
		}
	}
	for x, want := range map[uint32]uint16{0x7f800000: 0x7f80, 0xff800000: 0xff80, 0x7f7fffff: 0x7f80,
		0x80000000: 0x8000, 0x7f800001: 0x7fc0} {
		if got := bfloat(math.Float32frombits(x)); got != want {
			t.Errorf("%08x: %04x, want %04x", x, got, want)
		}
	}
}

func TestSegments(t *testing.T) {
	d := bare(10)
	if _, _, err := d.Segment("head"); Of(err) != State {
		t.Errorf("without a plan: %v", err)
	}
	var p plan.Plan
	p.Segments = []plan.Segment{{Name: "body", Len: 7}, {Name: "head", Len: 3}}
	d.accept(&p)
	if off, n, err := d.Segment("head"); off != 7 || n != 3 || err != nil {
		t.Errorf("%d, %d, %v, want 7 and 3", off, n, err)
	}
	if _, _, err := d.Segment("tail"); Of(err) != Value {
		t.Errorf("a segment that is not there: %v", err)
	}
}

func TestGuard(t *testing.T) {
	err := func() (err error) {
		defer Guard(&err)
		var none *Device
		none.Loss(1)
		return nil
	}()
	if Of(err) != Panic {
		t.Errorf("%v, want a panic's error", err)
	}
}
