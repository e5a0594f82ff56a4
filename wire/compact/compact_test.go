package compact_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// TestRoundTrip: decoding a short frame gives the announcement and the bytes of the record, and the
// short frame has fewer bytes than the long form.
func TestRoundTrip(t *testing.T) {
	for _, e := range examples() {
		frame, record := encode(t, &e)
		got, err := compact.Decode(frame)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		if !got.Compact() || got.Tip != wire.HashRecord(record).Tip() ||
			!bytes.Equal(got.Append(nil), e.a.Append(nil)) {
			t.Errorf("%s: got %+v, want %+v", e.name, got.Announcement, e.a)
		}
		if again, err := got.Record(prev); err != nil || !bytes.Equal(again, record) {
			t.Errorf("%s: got record %x, %v, want %x", e.name, again, err, record)
		}
		if read, err := got.Read(); err != nil || read.N != e.record.N ||
			len(read.Round.Terms) != len(e.record.Round.Terms) {
			t.Errorf("%s: read %+v, %v", e.name, read, err)
		}
		if short, full := len(frame), len(plain(&e)); short >= full {
			t.Errorf("%s: %d bytes, and %d in full", e.name, short, full)
		}
	}
}

// TestRecipeBytes checks the length of the recipe's frame: 120 bytes of scalars and 35 other bytes.
func TestRecipeBytes(t *testing.T) {
	e := recipe()
	if frame, _ := encode(t, &e); len(frame) != 155 {
		t.Errorf("%d bytes", len(frame))
	}
}

// TestOtherPredecessor: a reader with another log gets no record. A reader gets no record either if
// any bit of the frame changed on the way.
func TestOtherPredecessor(t *testing.T) {
	for _, e := range examples() {
		frame, record := encode(t, &e)
		a, err := compact.Decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		other := prev
		other[15] ^= 1 // beyond the bytes of a tip
		if _, err := a.Record(other); !errors.Is(err, wire.ErrValue) {
			t.Errorf("%s: after another record: %v", e.name, err)
		}
		for bit := range 8 * len(frame) {
			changed := bytes.Clone(frame)
			changed[bit/8] ^= 1 << (bit % 8)
			a, err := compact.Decode(changed)
			if err != nil || !a.Compact() {
				continue
			}
			// A change of the announcement's own fields goes unnoticed, because these fields are in no
			// record.
			if got, err := a.Record(prev); err == nil && !bytes.Equal(got, record) {
				t.Errorf("%s: with bit %d changed the record is %x", e.name, bit, got)
			}
		}
	}
}

// TestNoCompactForm: Append makes no short frame of an announcement that the short form cannot
// express.
func TestNoCompactForm(t *testing.T) {
	for name, edit := range map[string]func(*example, *wire.Round){
		"paused":       func(e *example, _ *wire.Round) { e.a.State = wire.Paused },
		"a reason":     func(e *example, _ *wire.Round) { e.a.Reason = "why" },
		"another N":    func(e *example, _ *wire.Round) { e.a.N++ },
		"two records":  func(e *example, _ *wire.Round) { e.a.Records.Add([]byte{1}) },
		"no terms":     func(_ *example, r *wire.Round) { r.Terms = nil },
		"no own terms": func(_ *example, r *wire.Round) { r.Terms[0].Back, r.Terms = 1, r.Terms[:1] },
		"two lengths":  func(e *example, _ *wire.Round) { e.add(0, 1000, 13, 0) },
		"no scalars":   func(_ *example, r *wire.Round) { clear(r.Terms[:1]); r.Terms = r.Terms[:1] },
		"a phase":      func(_ *example, r *wire.Round) { r.Phase = 1 },
		"slots":        func(_ *example, r *wire.Round) { r.Slots = []uint32{1} },
		"a population": func(_ *example, r *wire.Round) { r.Population = 7 },
		"few weights":  func(_ *example, r *wire.Round) { r.Weights = []uint32{7} },
		"no round":     func(_ *example, r *wire.Round) { r.Round = 0 },
		"a late round": func(_ *example, r *wire.Round) { r.Round = 500 },
		"far away": func(e *example, r *wire.Round) {
			e.a.Cohort.Members, r.Terms[9].Source = 1, 1e6
		},
		"an object": func(_ *example, r *wire.Round) { r.Object = make(plan.Bytes, wire.ObjectLen) },
	} {
		e := recipe()
		edit(&e, e.record.Round)
		if frame, ok := compact.Append([]byte("b"), &e.a, e.record.Append(nil)); ok ||
			string(frame) != "b" {
			t.Errorf("%s: %x", name, frame)
		}
	}
	e := recipe()
	end := wire.Record{N: 400, Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRequested}}
	if _, ok := compact.Append(nil, &e.a, end.Append(nil)); ok {
		t.Error("an end has a compact form")
	}
	if _, ok := compact.Append(nil, &e.a, []byte("no record")); ok {
		t.Error("what is no record has a compact form")
	}
}

// TestPlainFrames: Decode reads the frames of package wire as [wire.DecodeAnnouncement] does.
func TestPlainFrames(t *testing.T) {
	e := recipe()
	a, err := compact.Decode(plain(&e))
	if err != nil || a.Compact() || a.Tip != (wire.Tip{}) || a.Records.Len() != 1 {
		t.Errorf("got %+v, %v", a, err)
	}
	for _, b := range [][]byte{nil, {0x91}, {0x91, 2}, {0x9c, 3}, []byte("x")} {
		_, want := wire.DecodeAnnouncement(b)
		if _, err := compact.Decode(b); err == nil || err.Error() != want.Error() {
			t.Errorf("%x: got %v, want %v", b, err, want)
		}
	}
	if _, err := wire.DecodeAnnouncement([]byte{0x91, compact.Version, 0}); !errors.Is(err,
		wire.ErrUpgrade) {
		t.Errorf("a reader that does not know compact frames: %v", err)
	}
}

// TestSets: decoding an encoded set of contributors gives the same set, for any contributors and
// members.
func TestSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		e := recipe()
		members := 1 + rng.Uint32N(1<<rng.Uint32N(21))
		n := 1 + rng.IntN(min(int(members), 400))
		in := map[uint32]bool{}
		for len(in) < n {
			in[rng.Uint32N(members)] = true
		}
		e.a.Cohort.Members, e.record.Round.Terms = members, nil
		slots := make([]uint32, 0, n)
		for slot := range in {
			slots = append(slots, slot)
		}
		slices.Sort(slots)
		for _, slot := range slots {
			e.add(0, slot+1, 2, byte(slot))
		}
		e.record.Round.Contributors = uint32(n)
		frame, record := encode(t, &e)
		a, err := compact.Decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Record(prev); err != nil || !bytes.Equal(got, record) {
			t.Fatalf("%d of %d: %x, %v", n, members, got, err)
		}
	}
}

// TestFor: For is false for runs that a reader of the first version understands.
func TestFor(t *testing.T) {
	for _, name := range []string{"decomfl", "decomfl-adam", "fedzo", "fedzo-dense", "fzoos",
		"scaffold-1", "scaffold-2", "zo-adafl", "zo-adafl-shared", "zofedht"} {
		p, err := preset.Unbound(name, "r", 100)
		if err != nil {
			t.Fatal(err)
		}
		p.Precision = plan.Half
		if compact.For(p) {
			t.Errorf("%s has compact frames", name)
		}
	}
	for _, p := range []plan.Plan{{
		AggregateFields: plan.AggregateFields{Precision: plan.Half + 1},
	}, {
		ProbeFields: plan.ProbeFields{Sharing: plan.PerClient + 1},
	},
		{ServerFields: plan.ServerFields{ServerRule: plan.ServerSign + 1}}} {
		if !compact.For(&p) {
			t.Errorf("no compact frames with precision %d, sharing %d, server rule %d", p.Precision,
				p.Sharing, p.ServerRule)
		}
	}
}

// TestMeasure: the parts of a frame add up to its length, and the parts that the test can compute
// by itself are right.
func TestMeasure(t *testing.T) {
	for _, e := range examples() {
		frame, record := encode(t, &e)
		p, ok := compact.Measure(&e.a, record)
		scalars := 0
		for _, term := range e.record.Round.Terms {
			scalars += len(term.Scalars)
		}
		if all := p.Scalars + p.Sources + p.Weights + p.Steps + p.Tip + p.Fields + p.Record; !ok ||
			all != len(frame) || p.Scalars != scalars || p.Tip != 8 ||
			(p.Weights > 0) != (len(e.record.Round.Weights) > 0) || p.Steps < 4 || p.Sources < 1 {
			t.Errorf("%s: %+v are %d bytes of %d", e.name, p, all, len(frame))
		}
	}
	if p, ok := compact.Measure(&wire.Announcement{}, nil); ok || p != (compact.Parts{}) {
		t.Errorf("no frame has the parts %+v", p)
	}
}
