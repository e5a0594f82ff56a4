package lean_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/lean"
	"github.com/zofl/zofl/wire/preset"
)

// A round of an announcement, and what a lean frame must bring.
type example struct {
	name   string
	a      wire.Announcement
	record wire.Record
}

var prev = wire.HashRecord([]byte("the record before"))

// recipe has 10 of 100 members with 19 scalars of 4 bits and a scale of 2 bytes.
func recipe() example {
	e := example{name: "recipe", a: wire.Announcement{N: 401, Epoch: 1, Left: 30000,
		Cohort: wire.Cohort{Sampled: 10, Members: 100}, StepSize: 1e-3, Perturbations: 19}}
	e.record = wire.Record{N: 400, Prev: prev, Epoch: 1, Kind: wire.KindRound, Round: &wire.Round{
		Round: 399, StepSize: 1e-3, Perturbations: 19, Contributors: 10}}
	for i, slot := range []uint32{3, 14, 15, 28, 41, 59, 60, 77, 90, 99} {
		e.add(0, slot+1, 12, byte(i))
	}
	return e
}

func (e *example) add(back uint64, source uint32, size int, fill byte) {
	e.record.Round.Terms = append(e.record.Round.Terms, wire.Term{Back: back, Source: source,
		Scalars: bytes.Repeat([]byte{fill}, size)})
}

// examples have each thing that a frame can have.
func examples() []example {
	list := []example{recipe()}
	with := func(name string, edit func(*example, *wire.Round)) {
		e := recipe()
		e.name = name
		edit(&e, e.record.Round)
		list = append(list, e)
	}
	with("step", func(_ *example, r *wire.Round) { r.StepSize = 0.25 })
	with("factor", func(_ *example, r *wire.Round) { r.Factor = 0.75 })
	with("perturbations", func(_ *example, r *wire.Round) { r.Perturbations = 300 })
	with("attempts", func(e *example, r *wire.Round) { e.a.Attempt, r.Attempt = 2, 70000 })
	with("epoch", func(e *example, _ *wire.Round) { e.a.Epoch = 9 })
	with("contributors", func(_ *example, r *wire.Round) { r.Contributors = 300 })
	with("weights", func(_ *example, r *wire.Round) {
		r.Weights = []uint32{1, 2, 3, 4, 5, 600, 7, 8, 9, wire.MaxWeight}
	})
	with("late", func(e *example, r *wire.Round) {
		e.add(1, 2, 12, 30)
		e.add(1, 100, 12, 31)
		e.add(7, 1, 24, 32)
		r.Contributors = 13
	})
	with("late, weights", func(e *example, r *wire.Round) {
		e.add(300, 50, 12, 30)
		r.Contributors, r.Weights = 11, []uint32{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9}
	})
	with("rest", func(e *example, _ *wire.Round) {
		e.a.Rest = wire.Tail(wire.Reference{N: 384, Tip: wire.Tip{1}}, nil, false)
	})
	with("everybody", func(e *example, r *wire.Round) {
		e.a.Cohort.Members, r.Terms = 3, nil
		for slot := range uint32(3) {
			e.add(0, slot+1, 2, byte(slot))
		}
		r.Contributors = 3
	})
	with("shared", func(e *example, r *wire.Round) {
		r.Terms, r.Contributors = nil, 4000
		e.add(0, 0, 38, 7)
	})
	with("far", func(e *example, r *wire.Round) {
		e.a.Cohort.Members, r.Terms = wire.MaxMembers, nil
		e.add(0, 1, 12, 1)
		e.add(0, wire.MaxMembers, 12, 2)
		r.Contributors = 2
	})
	with("rollbacks before", func(e *example, r *wire.Round) { r.Round = 3 })
	return list
}

func encode(t testing.TB, e *example) (frame, record []byte) {
	t.Helper()
	record = e.record.Append(nil)
	if _, err := wire.DecodeRecord(record); err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	frame, ok := lean.Append([]byte("before"), &e.a, record)
	if !ok || !bytes.HasPrefix(frame, []byte("before")) {
		t.Fatalf("%s: no lean form: %x", e.name, frame)
	}
	return frame[len("before"):], record
}

// plain is the same announcement in the form of package wire.
func plain(e *example) []byte {
	a := e.a
	a.Records.Add(e.record.Append(nil))
	return a.Append(nil)
}

// TestRoundTrip: a lean frame brings the announcement and the record's bytes, and is shorter.
func TestRoundTrip(t *testing.T) {
	for _, e := range examples() {
		frame, record := encode(t, &e)
		got, err := lean.Decode(frame)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		if !got.Lean() || got.Tip != wire.HashRecord(record).Tip() ||
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
		if lean, full := len(frame), len(plain(&e)); lean >= full {
			t.Errorf("%s: %d bytes, and %d in full", e.name, lean, full)
		}
	}
}

// TestRecipeBytes holds the length of the recipe's frame: 120 bytes of scalars and 35 more.
func TestRecipeBytes(t *testing.T) {
	e := recipe()
	if frame, _ := encode(t, &e); len(frame) != 155 {
		t.Errorf("%d bytes", len(frame))
	}
}

// TestOtherPredecessor: a reader whose log is another gets no record, and neither does one whose
// frame was changed on the way, in whichever bit.
func TestOtherPredecessor(t *testing.T) {
	for _, e := range examples() {
		frame, record := encode(t, &e)
		a, err := lean.Decode(frame)
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
			a, err := lean.Decode(changed)
			if err != nil || !a.Lean() {
				continue
			}
			// The announcement's own fields are for this round and in no record.
			if got, err := a.Record(prev); err == nil && !bytes.Equal(got, record) {
				t.Errorf("%s: with bit %d changed the record is %x", e.name, bit, got)
			}
		}
	}
}

// TestNoLeanForm: what a lean frame cannot bring is left to package wire.
func TestNoLeanForm(t *testing.T) {
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
		"an object": func(_ *example, r *wire.Round) { r.Object = make(wire.Bytes, wire.ObjectLen) },
	} {
		e := recipe()
		edit(&e, e.record.Round)
		if frame, ok := lean.Append([]byte("b"), &e.a, e.record.Append(nil)); ok ||
			string(frame) != "b" {
			t.Errorf("%s: %x", name, frame)
		}
	}
	e := recipe()
	end := wire.Record{N: 400, Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRequested}}
	if _, ok := lean.Append(nil, &e.a, end.Append(nil)); ok {
		t.Error("an end has a lean form")
	}
	if _, ok := lean.Append(nil, &e.a, []byte("no record")); ok {
		t.Error("what is no record has a lean form")
	}
}

// TestPlainFrames: Decode reads the frames of package wire as that does.
func TestPlainFrames(t *testing.T) {
	e := recipe()
	a, err := lean.Decode(plain(&e))
	if err != nil || a.Lean() || a.Tip != (wire.Tip{}) || a.Records.Len() != 1 {
		t.Errorf("got %+v, %v", a, err)
	}
	for _, b := range [][]byte{nil, {0x91}, {0x91, 2}, {0x9c, 3}, []byte("x")} {
		_, want := wire.DecodeAnnouncement(b)
		if _, err := lean.Decode(b); err == nil || err.Error() != want.Error() {
			t.Errorf("%x: got %v, want %v", b, err, want)
		}
	}
	if _, err := wire.DecodeAnnouncement([]byte{0x91, lean.Version, 0}); !errors.Is(err,
		wire.ErrUpgrade) {
		t.Errorf("a reader that does not know lean frames: %v", err)
	}
}

// TestSets: any contributors among any members come back.
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
		a, err := lean.Decode(frame)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Record(prev); err != nil || !bytes.Equal(got, record) {
			t.Fatalf("%d of %d: %x, %v", n, members, got, err)
		}
	}
}

// TestBrokenFrames: no prefix of a frame is a frame, and a short frame that claims much allocates
// little.
func TestBrokenFrames(t *testing.T) {
	for _, e := range examples() {
		frame, _ := encode(t, &e)
		for n := 2; n < len(frame); n++ {
			a, err := lean.Decode(frame[:n])
			if err == nil {
				_, err = a.Record(prev)
			}
			var fault *wire.DecodeError
			if !errors.As(err, &fault) {
				t.Errorf("%s: the first %d bytes: %v", e.name, n, err)
			}
		}
		if _, err := lean.Decode(append(frame, make([]byte, wire.MaxFrame)...)); !errors.Is(err,
			wire.ErrLimit) {
			t.Errorf("%s: a long frame: %v", e.name, err)
		}
	}
	for _, text := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if a, err := lean.Decode(text); err == nil {
			a.Record(prev)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(100*len(text)+4096) {
			t.Errorf("%x...: %d bytes allocate %d", text[:24], len(text), got)
		}
	}
}

// hostile are frames that claim as much as they can.
func hostile() [][]byte {
	head := []byte{0x91, lean.Version, 0, 9, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8}
	return [][]byte{
		append(bytes.Clone(head), 0, 1, 0xff, 0x1f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		append(append(bytes.Clone(head), 0, 1, 0xff, 0x1f), make([]byte, 8000)...),
		append(append(bytes.Clone(head), 0, 1, 1), bytes.Repeat([]byte{0xff}, 60000)...),
		append(append(bytes.Clone(head), 0x60, 1, 1, 0, 1, 7, 0xff, 0x1f), make([]byte, 90)...),
	}
}

func Fuzz(f *testing.F) {
	for _, e := range examples() {
		frame, _ := encode(f, &e)
		f.Add(frame)
	}
	for _, frame := range hostile() {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := lean.Decode(b)
		var fault *wire.DecodeError
		if err != nil {
			if !errors.As(err, &fault) {
				t.Errorf("%x: got error of type %T", b, err)
			}
			return
		}
		if !a.Lean() {
			return
		}
		r, err := a.Read()
		if err != nil {
			if !errors.As(err, &fault) {
				t.Errorf("%x: got error of type %T", b, err)
			}
			return
		}
		r.Prev = prev
		record := r.Append(nil)
		if _, err := wire.DecodeRecord(record); err != nil {
			return // its tip would be no record's
		}
		again, ok := lean.Append(nil, &a.Announcement, record)
		copy(again[tipAt(&a):], a.Tip[:])
		if !ok || !bytes.Equal(again, b) {
			t.Errorf("re-encoded\ngot  %x\nwant %x", again, b)
		}
	})
}

// tipAt is where a frame's tip begins: behind the numbers before it.
func tipAt(a *lean.Announcement) int {
	bytes := func(v uint64) (n int) {
		for n = 1; v > 127; n++ {
			v >>= 7
		}
		return n
	}
	at := 3 + bytes(a.N) + bytes(a.Epoch) + bytes(a.Left) + bytes(a.Cohort.Sampled) +
		bytes(uint64(a.Cohort.Members)) + 4 + bytes(uint64(a.Perturbations))
	if a.Attempt > 0 {
		at += bytes(uint64(a.Attempt))
	}
	return at
}

// TestFor: runs that a reader of the first version understands have no lean frames.
func TestFor(t *testing.T) {
	for _, name := range []string{"decomfl", "decomfl-adam", "fedzo", "fedzo-dense", "fzoos",
		"scaffold-1", "scaffold-2", "zo-adafl", "zo-adafl-shared", "zofedht"} {
		p, err := preset.Unbound(name, "r", 100)
		if err != nil {
			t.Fatal(err)
		}
		p.Precision = wire.Half
		if lean.For(p) {
			t.Errorf("%s has lean frames", name)
		}
	}
	for _, p := range []wire.Plan{{Precision: wire.Half + 1}, {Sharing: wire.PerClient + 1},
		{ServerRule: wire.ServerSign + 1}} {
		if !lean.For(&p) {
			t.Errorf("no lean frames with precision %d, sharing %d, server rule %d", p.Precision,
				p.Sharing, p.ServerRule)
		}
	}
}

// TestMeasure: the parts of a frame are all of it, and those that are easily told apart are right.
func TestMeasure(t *testing.T) {
	for _, e := range examples() {
		frame, record := encode(t, &e)
		p, ok := lean.Measure(&e.a, record)
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
	if p, ok := lean.Measure(&wire.Announcement{}, nil); ok || p != (lean.Parts{}) {
		t.Errorf("no frame has the parts %+v", p)
	}
}
