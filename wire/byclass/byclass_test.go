package byclass_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/byclass"
	"github.com/zofl/zofl/wire/survey"
)

func planOf(precision wire.Precision, classes, batch uint32) *wire.Plan {
	return &wire.Plan{
		PlanProbe: wire.PlanProbe{Batch: batch}, PlanGroups: wire.PlanGroups{Classes: classes},
		PlanAggregate: wire.PlanAggregate{Precision: precision},
	}
}

// sent returns a contribution of parts, and these.
func sent(precision wire.Precision, p int, classes, counts []uint32) (wire.Scalars,
	[]byclass.Part) {
	var s wire.Scalars
	var parts []byclass.Part
	last := -1
	for i, c := range classes {
		block := make([]float32, p)
		for j := range block {
			block[j] = float32(i+1) * float32(j-1)
		}
		part := byclass.Part{Class: c, Count: counts[i], Scalars: precision.Append(nil, block...)}
		s, parts, last = byclass.Append(s, last, part), append(parts, part), int(c)
	}
	return s, parts
}

// TestParts: what is appended is read, in every precision.
func TestParts(t *testing.T) {
	for _, precision := range []wire.Precision{wire.Single, wire.Half, wire.Int8, wire.Int4,
		wire.Int2} {
		s, want := sent(precision, 7, []uint32{0, 3, 9}, []uint32{5, 200, 51})
		got, ok := byclass.Parts(nil, planOf(precision, 10, 256), s, 7)
		if !ok || len(got) != 3 {
			t.Fatalf("precision %d: %v, %v", precision, got, ok)
		}
		for i := range got {
			if got[i].Class != want[i].Class || got[i].Count != want[i].Count ||
				!bytes.Equal(got[i].Scalars, want[i].Scalars) {
				t.Errorf("precision %d: part %v, want %v", precision, got[i], want[i])
			}
		}
	}
}

// The bytes of docs/wire.md: classes 2 and 4 of 3 and 300 samples, one scalar each.
func TestBytes(t *testing.T) {
	s := byclass.Append(nil, -1, byclass.Part{Class: 2, Count: 3,
		Scalars: wire.AppendScalars(nil, 1)})
	s = byclass.Append(s, 2, byclass.Part{Class: 4, Count: 300,
		Scalars: wire.AppendScalars(nil, -2)})
	want := []byte{2, 3, 0, 0, 0, 0, 0x80, 0x3f, 1, 0x2c, 1, 0, 0, 0, 0, 0xc0}
	if !bytes.Equal(s, want) {
		t.Errorf("%x, want %x", []byte(s), want)
	}
}

// TestRefusals: no other form is read, and none panics.
func TestRefusals(t *testing.T) {
	plan := planOf(wire.Int8, 10, 256)
	good, _ := sent(wire.Int8, 4, []uint32{1, 9}, []uint32{100, 156})
	many, _ := sent(wire.Int8, 4, []uint32{1, 9}, []uint32{100, 157})
	high, _ := sent(wire.Int8, 4, []uint32{1, 10}, []uint32{100, 100})
	none, _ := sent(wire.Int8, 4, []uint32{1}, []uint32{0})
	after, _ := sent(wire.Int8, 4, []uint32{9, 10}, []uint32{9, 9})
	scale, _ := sent(wire.Int8, 4, []uint32{1}, []uint32{9})
	scale = slices.Clone(scale)
	scale[5] |= 0x7c // an infinite scale
	for name, s := range map[string]wire.Scalars{
		"nothing": {}, "too many samples": many, "class 10": high, "no sample": none,
		"after the last class": after, "a scale that is none": scale,
		"a number without end": bytes.Repeat([]byte{0xff}, 30),
	} {
		if _, ok := byclass.Parts(nil, plan, s, 4); ok {
			t.Errorf("%s is read", name)
		}
	}
	for n := range good {
		if parts, ok := byclass.Parts(nil, plan, good[:n], 4); ok && len(parts) == 2 {
			t.Errorf("%d of %d bytes are read", n, len(good))
		}
	}
	if _, ok := byclass.Parts(nil, plan, append(slices.Clone(good), 0), 4); ok {
		t.Error("a byte too many is read")
	}
	if _, ok := byclass.Parts(nil, planOf(wire.Int8, 10, 0), many, 4); !ok {
		t.Error("a minibatch of all samples has a limit")
	}
}

// TestMostBytes: the longest contribution is as long.
func TestMostBytes(t *testing.T) {
	plan := planOf(wire.Int8, 3, 0)
	s, _ := sent(wire.Int8, 9, []uint32{0, 1, 2},
		[]uint32{byclass.MaxCount, byclass.MaxCount, math.MaxUint32})
	if got := byclass.MostBytes(plan, 9); len(s) != got {
		t.Errorf("%d bytes, MostBytes says %d", len(s), got)
	}
	if got := byclass.MostBytes(planOf(wire.Int8, 64, 2), 9); got != 2*(4+wire.Int8.Bytes(9)) {
		t.Errorf("%d bytes of two samples", got)
	}
}

func TestShares(t *testing.T) {
	plan := planOf(wire.Single, 3, 0)
	shares := byclass.Shares([]int{1, 0, 3})
	if len(shares) != survey.Sketched || shares[0] != 0.25 || shares[1] != 0 || shares[2] != 0.75 ||
		!byclass.AreShares(plan, shares) {
		t.Errorf("shares %v", shares)
	}
	nan := float32(math.NaN())
	for _, bad := range [][]float32{{0.5, 0.4}, {1, 1}, {-0.5, 1.5}, {nan, 1}, {0, 0, 0, 1}, {},
		{0.5, 0.5, nan}} {
		values := append(slices.Clone(bad), make([]float32, survey.Sketched-len(bad))...)
		if byclass.AreShares(plan, values) {
			t.Errorf("%v are shares", bad)
		}
	}
}

func FuzzParts(f *testing.F) {
	s, _ := sent(wire.Int4, 3, []uint32{0, 1}, []uint32{5, 6})
	f.Add([]byte(s))
	f.Fuzz(func(t *testing.T, b []byte) {
		plan := planOf(wire.Int4, 10, 256)
		parts, ok := byclass.Parts(nil, plan, b, 3)
		if !ok {
			return
		}
		if again := joined(parts); !bytes.Equal(again, b) {
			t.Errorf("%x is read as %x", b, again)
		}
	})
}

func joined(parts []byclass.Part) (s wire.Scalars) {
	last := -1
	for _, p := range parts {
		s, last = byclass.Append(s, last, p), int(p.Class)
	}
	return s
}

// TestInReply: a contribution of any numbers of samples passes a frame.
func TestInReply(t *testing.T) {
	for _, precision := range []wire.Precision{wire.Single, wire.Half, wire.Int8, wire.Int4,
		wire.Int2} {
		for _, p := range []int{1, 2, 19} {
			for _, n := range []uint32{1, 127, 128, 1 << 14, 1 << 21} {
				s, want := sent(precision, p, []uint32{2, 63}, []uint32{n, 5})
				r, err := wire.DecodeReply((&wire.Reply{Kind: wire.Contribution, N: 2, Weight: 1,
					Values: s}).Append(nil))
				if err != nil {
					t.Fatalf("precision %d, %d scalars, %d samples: %v", precision, p, n, err)
				}
				got, ok := byclass.Parts(nil, planOf(precision, 64, 0), r.Values, p)
				if !ok || len(got) != 2 || got[0].Count != want[0].Count || got[1].Class != 63 {
					t.Errorf("precision %d, %d scalars, %d samples: %v", precision, p, n, got)
				}
			}
		}
	}
}
