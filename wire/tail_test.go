package wire_test

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// TestTails compares the tails of frames with fixed bytes, because other versions read these tails.
func TestTails(t *testing.T) {
	few, ok := wire.MissingOf([]uint32{0, 1, 5, 300})
	if !ok {
		t.Fatal("four slots are too many")
	}
	reference := wire.Reference{N: 64, Tip: wire.Tip{1}, Digest: [8]byte{2}}
	known := wire.Known{Key: wire.Tip{1}, Plan: wire.Tip{2}, N: 300, Tip: wire.Tip{3}}
	away := wire.Away{Milliseconds: 5000}
	for want, got := range map[string][]byte{
		"94c4080100000000000000c4080200000000000000cd012cc4080300000000000000": known.Append(nil),
		"91cd1388":           away.Append(nil),
		"9091c405000003a602": wire.Tail(wire.Reference{}, few, true),
		"9340c4080100000000000000c4080200000000000000" + "91c405000003a602": wire.Tail(reference,
			few, true),
		"9340c4080100000000000000c4080200000000000000": wire.Tail(reference, nil, false),
		"9091c400": wire.Tail(wire.Reference{}, nil, true),
		"":         wire.Tail(wire.Reference{}, nil, false),
	} {
		if hex.EncodeToString(got) != want {
			t.Errorf("got %x, want %s", got, want)
		}
	}
	p := plan.Plan{RunKey: make([]byte, 32)}
	if got := wire.KeyTip(&p).String(); got != "25fd35d7c327ccd0" {
		t.Errorf("the key's tip is %s", got)
	}
	p = plan.Plan{KeyCheck: make([]byte, 32)}
	if !p.Private() || wire.KeyTip(&p).String() != "25fd35d7c327ccd0" {
		t.Errorf("a secret key's tip is %s", wire.KeyTip(&p))
	}
}

func TestMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		in := map[uint32]bool{}
		most := 1 + rng.Uint32N(1000)
		var slots []uint32
		for range rng.IntN(60) {
			if s := rng.Uint32N(most); !in[s] {
				in[s] = true
				slots = append(slots, s)
			}
		}
		slices.Sort(slots)
		m, ok := wire.MissingOf(slots)
		if !ok || len(m) > 2*len(slots) {
			t.Fatalf("%d slots take %d bytes", len(slots), len(m))
		}
		a := wire.Announcement{N: 2, Rest: append(wire.Tail(wire.Reference{}, m, true), 7)}
		if m, ok = a.Missing(); !ok {
			t.Fatalf("rest %x names nobody", a.Rest)
		}
		for s := range most + 5 {
			if m.Has(s) != in[s] {
				t.Fatalf("slots %v: slot %d is missing: %v", slots, s, !in[s])
			}
		}
	}
	largest, ok := wire.MissingOf([]uint32{plan.MaxMembers - 1})
	if !ok || !largest.Has(plan.MaxMembers-1) || largest.Has(plan.MaxMembers-2) {
		t.Errorf("the largest slot is %x", []byte(largest))
	}
	var many []uint32
	for s := range uint32(wire.MaxMissing + 1) {
		many = append(many, s)
	}
	if _, ok := wire.MissingOf(many[1:]); !ok {
		t.Errorf("%d slots are too many", wire.MaxMissing)
	}
	if m, ok := wire.MissingOf(many); ok || m != nil {
		t.Errorf("%d slots are not too many", len(many))
	}
}

// TestBrokenTails: bytes in the place of a tail that are no tail belong to another version, and are
// no error.
func TestBrokenTails(t *testing.T) {
	for _, text := range []string{"", "90", "9340c40101c40102", "91c402ff", "9091c403ff", "9091a0",
		"9141", "c0", "94", "ddffffffff", "9091c5ffff"} {
		rest, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		a := wire.Announcement{N: 2, Rest: rest}
		if m, ok := a.Missing(); ok {
			t.Errorf("rest %s: missing %x", text, []byte(m))
		}
		r := wire.JoinRequest{Rest: rest}
		if k, _, ok := r.Known(); ok || k != (wire.Known{}) {
			t.Errorf("rest %s: known %+v", text, k)
		}
		d := wire.Reply{Rest: rest}
		if away, ok := d.Away(); ok != (text == "9141") || !ok && away != (wire.Away{}) {
			t.Errorf("rest %s: away %+v", text, away)
		}
	}
	for _, m := range []wire.Missing{{0x80}, {0xff, 0xff, 0xff, 0xff, 0x7f}} {
		if m.Has(0) || m.Has(plan.MaxMembers-1) {
			t.Errorf("broken slots %x hold one", []byte(m))
		}
	}
}

func FuzzTails(f *testing.F) {
	for _, frame := range []string{"announcement", "reply", "join-request"} {
		for _, b := range vectorsOf(f, frame, "ok") {
			f.Add(b, uint32(1))
		}
	}
	m, _ := wire.MissingOf([]uint32{3, 4, 9})
	f.Add(wire.Tail(wire.Reference{N: 1}, m, true), uint32(4))
	f.Fuzz(func(t *testing.T, rest []byte, slot uint32) {
		a := wire.Announcement{N: 2, Rest: rest}
		if m, ok := a.Missing(); ok && m.Has(slot) && len(m) == 0 {
			t.Errorf("nobody is missing, and slot %d is", slot)
		}
		(&wire.JoinRequest{Rest: rest}).Known()
		(&wire.Reply{Rest: rest}).Away()
	})
}
