package plan_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/internal/half"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// TestHalves: Decode reads every binary16 as its value, and Append writes the value as the same two
// bytes, the lower byte first. Round does not change the value.
func TestHalves(t *testing.T) {
	for h := range 1 << 16 {
		bits, x := []byte{byte(h), byte(h >> 8)}, half.Float32(uint16(h))
		read, rounded := [1]float32{}, [1]float32{x}
		plan.Half.Decode(read[:], bits, 0)
		plan.Half.Round(rounded[:])
		if x != x && read[0] != read[0] && rounded[0] != rounded[0] {
			continue // the payload of a NaN is not kept
		}
		if got := plan.Half.Append(nil, x); read[0] != x || rounded[0] != x ||
			!bytes.Equal(got, bits) {
			t.Fatalf("%04x: %v is read as %v, rounded to %v and written as %x", h, x, read[0],
				rounded[0], got)
		}
	}
}

// TestPrecisions checks widths and lengths, and that Single leaves a float32 as it is.
func TestPrecisions(t *testing.T) {
	values := []float32{0.5, -1.25, 1e-3, float32(math.Inf(-1)), 70000}
	for precision, want := range map[plan.Precision][]float32{
		plan.Single: values,
		plan.Half:   {0.5, -1.25, 0.0010004044, float32(math.Inf(-1)), float32(math.Inf(1))},
	} {
		s := precision.Append(nil, values...)
		if precision.Len(s) != len(values) || len(s) != precision.Bytes(len(values)) ||
			precision.Len(s[:len(s)-1]) != -1 {
			t.Errorf("%v: %d bytes are %d scalars, one less %d", precision, len(s),
				precision.Len(s), precision.Len(s[:len(s)-1]))
		}
		rounded := slices.Clone(values)
		precision.Round(rounded)
		for _, got := range [][]float32{precision.Values(s, 1, 5), precision.Values(s, 5, 1), rounded} {
			if !slices.Equal(got, want) {
				t.Errorf("%v: got %v, want %v", precision, got, want)
			}
		}
		two := make([]float32, 2)
		if precision.Decode(two, s, 1); !slices.Equal(two, want[2:4]) {
			t.Errorf("%v: block 1 is %v, want %v", precision, two, want[2:4])
		}
		if precision.Values(s, 2, 2) != nil || precision.Values(s, 3, 2) != nil {
			t.Errorf("%v: five scalars fit 2 or 3 blocks of two", precision)
		}
	}
	if plan.Half.Len(wire.Scalars{1, 2, 3, 4, 5, 6}) != 3 ||
		plan.Single.Len(wire.Scalars{1, 2, 3, 4, 5, 6}) != -1 {
		t.Error("6 bytes are 3 halves and no float32s")
	}
	if got := wire.AppendScalars(nil, 1); !bytes.Equal(got, plan.Single.Append(nil, 1)) {
		t.Errorf("AppendScalars and Single differ: %x", got)
	}
}
