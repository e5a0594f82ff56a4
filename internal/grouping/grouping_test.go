package grouping_test

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// TestTails holds the bytes, which other versions read.
func TestTails(t *testing.T) {
	reference := wire.Reference{N: 64, Tip: wire.Tip{1}, Digest: [8]byte{2}}
	missing, _ := wire.MissingOf([]uint32{1})
	groups := [][]uint32{{0, 1, 300}, {}, {5}}
	for want, got := range map[string][]byte{
		"9090" + "91c408030000aa02000105": grouping.Tail(wire.Reference{}, nil, false, groups),
		"9340c4080100000000000000c4080200000000000000" + "91c40101" +
			"91c408030000aa02000105": grouping.Tail(reference, missing, true, groups),
		"9103": grouping.AppendReply(nil, 3),
	} {
		if hex.EncodeToString(got) != want {
			t.Errorf("got %x, want %s", got, want)
		}
	}
}

// draw returns random groups of distinct ascending slots below most.
func draw(rng *rand.Rand, most uint32) (groups [][]uint32, of map[uint32]uint32) {
	of = map[uint32]uint32{}
	for g := range 1 + rng.Uint32N(4) {
		var slots []uint32
		for range rng.IntN(8) {
			slot := rng.Uint32N(most)
			if _, again := of[slot]; !again {
				slots, of[slot] = append(slots, slot), g
			}
		}
		slices.Sort(slots)
		groups = append(groups, slots)
	}
	return groups, of
}

func TestOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		most := 1 + rng.Uint32N(1000)
		groups, of := draw(rng, most)
		var reference wire.Reference
		if i%2 == 0 {
			reference.N = 7
		}
		m, _ := wire.MissingOf([]uint32{1, 4})
		a := wire.Announcement{N: 2, Rest: grouping.Tail(reference, m, i%3 == 0, groups)}
		a.Rest = append(a.Rest, 0x93) // of a later version
		for slot := range most {
			want, in := of[slot]
			if got, ok := grouping.Of(&a, slot); ok != in || got != want {
				t.Fatalf("%v: slot %d is in group %d, %v", groups, slot, got, ok)
			}
		}
		if r, ok := a.Reference(); ok != (reference.N > 0) || r != reference {
			t.Errorf("reference %v, %v before groups", r, ok)
		}
		if m, ok := a.Missing(); ok != (i%3 == 0) || ok && (!m.Has(4) || m.Has(3)) {
			t.Errorf("missing %v, %v before groups", m, ok)
		}
	}
}

func TestOfNothing(t *testing.T) {
	whole := grouping.Tail(wire.Reference{N: 7}, nil, true, [][]uint32{{1, 300}})
	for n := range whole {
		if g, ok := grouping.Of(&wire.Announcement{Rest: whole[:n]}, 1); ok {
			t.Errorf("%d of %d bytes: slot 1 is in group %d", n, len(whole), g)
		}
	}
	for _, tail := range []string{
		"909091c403020100"[:14],    // two devices, one named
		"909091c406010080808080",   // a group without end
		"909091c40701ffffffff0f00", // a slot beyond every roster
		"909191c40101",             // missing that is no bin
		"9091c40091c40101", "92909091c40101",
	} {
		b, _ := hex.DecodeString(tail)
		for _, slot := range []uint32{0, 1, plan.MaxMembers} {
			if g, ok := grouping.Of(&wire.Announcement{Rest: b}, slot); ok {
				t.Errorf("%s: slot %d is in group %d", tail, slot, g)
			}
		}
	}
	// A slot named twice is in the first group.
	twice := grouping.Tail(wire.Reference{}, nil, false, [][]uint32{{2}, {2}})
	if g, ok := grouping.Of(&wire.Announcement{Rest: twice}, 2); !ok || g != 0 {
		t.Errorf("a slot named twice is in group %d, %v", g, ok)
	}
}

func TestReply(t *testing.T) {
	for _, group := range []uint32{0, 1, grouping.MaxDevices} {
		r := wire.Reply{Rest: append(grouping.AppendReply(nil, group), 1)}
		if got, ok := grouping.OfReply(&r); !ok || got != group {
			t.Errorf("group %d is read as %d, %v", group, got, ok)
		}
	}
	for _, rest := range []string{"", "90", "9181", "91cc81", "920001", "91cd0001"} {
		b, _ := hex.DecodeString(rest)
		if got, ok := grouping.OfReply(&wire.Reply{Rest: b}); ok {
			t.Errorf("%q names group %d", rest, got)
		}
	}
}

// An announcement that names as many devices as possible, of the largest roster, has room.
func TestHeadHasRoom(t *testing.T) {
	var groups [][]uint32
	for g := range grouping.MaxDevices / 2 {
		groups = append(groups, []uint32{plan.MaxMembers/2 - uint32(g), plan.MaxMembers - 1})
	}
	a := wire.Announcement{N: 1 << 62, Attempt: 1 << 31, Epoch: 1 << 62, Left: 1 << 31,
		Cohort:        wire.Cohort{Sampled: wire.FullThreshold, Members: plan.MaxMembers},
		Perturbations: 65535, StepSize: 1,
		Rest: grouping.Tail(wire.Reference{N: 1 << 62}, make([]byte, wire.MaxMissing), true, groups)}
	if got := len(a.Append(nil)); got > wire.MaxHead {
		t.Errorf("an announcement without records has %d bytes, want at most %d", got, wire.MaxHead)
	}
	if g, ok := grouping.Of(&a, plan.MaxMembers/2-63); !ok || g != 63 {
		t.Errorf("the last group's device is in group %d, %v", g, ok)
	}
}

func FuzzOf(f *testing.F) {
	f.Add(grouping.Tail(wire.Reference{N: 1}, nil, true, [][]uint32{{0, 3}, {2}}), uint32(3))
	f.Add(grouping.Tail(wire.Reference{}, nil, false, [][]uint32{{1}}), uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, slot uint32) {
		if g, ok := grouping.Of(&wire.Announcement{Rest: b}, slot); ok && int(g) >= len(b) {
			t.Errorf("%x: slot %d is in group %d", b, slot, g)
		}
		if g, ok := grouping.OfReply(&wire.Reply{Rest: b}); ok && g > grouping.MaxDevices {
			t.Errorf("%x: group %d", b, g)
		}
	})
}
