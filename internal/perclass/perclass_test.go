package perclass_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

func planOf(precision plan.Precision, classes, batch uint32) *plan.Plan {
	return &plan.Plan{
		ProbeFields: plan.ProbeFields{Batch: batch}, GroupsFields: plan.GroupsFields{Classes: classes},
		AggregateFields: plan.AggregateFields{Precision: precision},
	}
}

// sent returns a contribution of parts, and these.
func sent(precision plan.Precision, p int, classes, counts []uint32) (wire.Scalars,
	[]perclass.Part) {
	var s wire.Scalars
	var parts []perclass.Part
	last := -1
	for i, c := range classes {
		block := make([]float32, p)
		for j := range block {
			block[j] = float32(i+1) * float32(j-1)
		}
		part := perclass.Part{Class: c, Count: counts[i], Scalars: precision.Append(nil, block...)}
		s, parts, last = perclass.Append(s, last, part), append(parts, part), int(c)
	}
	return s, parts
}

// TestParts: what is appended is read, in every precision.
func TestParts(t *testing.T) {
	for _, precision := range []plan.Precision{plan.Single, plan.Half, plan.Int8, plan.Int4,
		plan.Int2} {
		s, want := sent(precision, 7, []uint32{0, 3, 9}, []uint32{5, 200, 51})
		got, ok := perclass.Parts(nil, planOf(precision, 10, 256), s, 7)
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
	s := perclass.Append(nil, -1, perclass.Part{Class: 2, Count: 3,
		Scalars: wire.AppendScalars(nil, 1)})
	s = perclass.Append(s, 2, perclass.Part{Class: 4, Count: 300,
		Scalars: wire.AppendScalars(nil, -2)})
	want := []byte{2, 3, 0, 0, 0, 0, 0x80, 0x3f, 1, 0x2c, 1, 0, 0, 0, 0, 0xc0}
	if !bytes.Equal(s, want) {
		t.Errorf("%x, want %x", []byte(s), want)
	}
}

// TestRefusals: no other form is read, and none panics.
func TestRefusals(t *testing.T) {
	p := planOf(plan.Int8, 10, 256)
	good, _ := sent(plan.Int8, 4, []uint32{1, 9}, []uint32{100, 156})
	many, _ := sent(plan.Int8, 4, []uint32{1, 9}, []uint32{100, 157})
	high, _ := sent(plan.Int8, 4, []uint32{1, 10}, []uint32{100, 100})
	none, _ := sent(plan.Int8, 4, []uint32{1}, []uint32{0})
	after, _ := sent(plan.Int8, 4, []uint32{9, 10}, []uint32{9, 9})
	scale, _ := sent(plan.Int8, 4, []uint32{1}, []uint32{9})
	scale = slices.Clone(scale)
	scale[5] |= 0x7c // an infinite scale
	for name, s := range map[string]wire.Scalars{
		"nothing": {}, "too many samples": many, "class 10": high, "no sample": none,
		"after the last class": after, "a scale that is none": scale,
		"a number without end": bytes.Repeat([]byte{0xff}, 30),
	} {
		if _, ok := perclass.Parts(nil, p, s, 4); ok {
			t.Errorf("%s is read", name)
		}
	}
	for n := range good {
		if parts, ok := perclass.Parts(nil, p, good[:n], 4); ok && len(parts) == 2 {
			t.Errorf("%d of %d bytes are read", n, len(good))
		}
	}
	if _, ok := perclass.Parts(nil, p, append(slices.Clone(good), 0), 4); ok {
		t.Error("a byte too many is read")
	}
	if _, ok := perclass.Parts(nil, planOf(plan.Int8, 10, 0), many, 4); !ok {
		t.Error("a minibatch of all samples has a limit")
	}
}

// TestMostBytes: the longest contribution is as long.
func TestMostBytes(t *testing.T) {
	p := planOf(plan.Int8, 3, 0)
	s, _ := sent(plan.Int8, 9, []uint32{0, 1, 2},
		[]uint32{perclass.MaxCount, perclass.MaxCount, math.MaxUint32})
	if got := perclass.MostBytes(p, 9); len(s) != got {
		t.Errorf("%d bytes, MostBytes says %d", len(s), got)
	}
	if got := perclass.MostBytes(planOf(plan.Int8, 64, 2), 9); got != 2*(4+plan.Int8.Bytes(9)) {
		t.Errorf("%d bytes of two samples", got)
	}
}

func TestShares(t *testing.T) {
	plan := planOf(plan.Single, 3, 0)
	shares := perclass.Shares([]int{1, 0, 3})
	if len(shares) != survey.Sketched || shares[0] != 0.25 || shares[1] != 0 || shares[2] != 0.75 ||
		!perclass.AreShares(plan, shares) {
		t.Errorf("shares %v", shares)
	}
	nan := float32(math.NaN())
	for _, bad := range [][]float32{{0.5, 0.4}, {1, 1}, {-0.5, 1.5}, {nan, 1}, {0, 0, 0, 1}, {},
		{0.5, 0.5, nan}} {
		values := append(slices.Clone(bad), make([]float32, survey.Sketched-len(bad))...)
		if perclass.AreShares(plan, values) {
			t.Errorf("%v are shares", bad)
		}
	}
}

func FuzzParts(f *testing.F) {
	s, _ := sent(plan.Int4, 3, []uint32{0, 1}, []uint32{5, 6})
	f.Add([]byte(s))
	f.Fuzz(func(t *testing.T, b []byte) {
		plan := planOf(plan.Int4, 10, 256)
		parts, ok := perclass.Parts(nil, plan, b, 3)
		if !ok {
			return
		}
		if again := joined(parts); !bytes.Equal(again, b) {
			t.Errorf("%x is read as %x", b, again)
		}
	})
}

func joined(parts []perclass.Part) (s wire.Scalars) {
	last := -1
	for _, p := range parts {
		s, last = perclass.Append(s, last, p), int(p.Class)
	}
	return s
}

// TestInReply: a contribution of any numbers of samples passes a frame.
func TestInReply(t *testing.T) {
	for _, precision := range []plan.Precision{plan.Single, plan.Half, plan.Int8, plan.Int4,
		plan.Int2} {
		for _, p := range []int{1, 2, 19} {
			for _, n := range []uint32{1, 127, 128, 1 << 14, 1 << 21} {
				s, want := sent(precision, p, []uint32{2, 63}, []uint32{n, 5})
				r, err := wire.DecodeReply((&wire.Reply{Kind: wire.Contribution, N: 2, Weight: 1,
					Values: s}).Append(nil))
				if err != nil {
					t.Fatalf("precision %d, %d scalars, %d samples: %v", precision, p, n, err)
				}
				got, ok := perclass.Parts(nil, planOf(precision, 64, 0), r.Values, p)
				if !ok || len(got) != 2 || got[0].Count != want[0].Count || got[1].Class != 63 {
					t.Errorf("precision %d, %d scalars, %d samples: %v", precision, p, n, got)
				}
			}
		}
	}
}
