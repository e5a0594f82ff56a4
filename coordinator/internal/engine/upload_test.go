package engine

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/uploads"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// The record and its vector have the bits of the exact mean, whatever the order of the vectors and
// their pieces.
func TestDenseMeanDoesNotDependOnOrder(t *testing.T) {
	const devices, elements = 6, 40
	plan := densePlan(t, devices, "weights=samples")
	plan.Dim = elements
	rng := rand.New(rand.NewPCG(1, 2))
	list := senders(rng, devices, elements)
	want := chaintest.Vector(exactMean(list, true)...)
	var first []byte
	for trial := range 40 {
		c, log := newDenseCore(t, plan)
		sendInPieces(t, c, log, list, rng)
		r, data := lastRound(t, log)
		if !bytes.Equal(data, want) {
			t.Fatalf("trial %d: the mean is not the exact one", trial)
		}
		if first == nil {
			first = recordOf(t, log, 2)
		}
		if !bytes.Equal(recordOf(t, log, 2), first) {
			t.Fatalf("trial %d: record %x, want %x", trial, recordOf(t, log, 2), first)
		}
		if len(r.Round.Terms)+len(r.Round.Slots)+int(r.Round.Population) > 0 ||
			r.Round.Contributors != devices || r.Round.Phase != 0 {
			t.Fatalf("round %+v, want a vector and how many contributed alone", r.Round)
		}
	}
}

// sendInPieces sends vectors in pieces of all sizes, interleaved among devices.
func sendInPieces(t testing.TB, c *Core, log *runlog.Memory, list []*sender, rng *rand.Rand) {
	t.Helper()
	n := c.N
	at := make([]int, len(list))
	done := 0
	for done < len(list) {
		i := rng.IntN(len(list))
		d := list[i]
		if at[i] == len(d.vector) {
			continue
		}
		size := rng.IntN(len(d.vector)/2) + 1
		r, out := sendFrame(t, c, 1, d.id, d.frame(c, at[i], size))
		at[i] = min(at[i]+size, len(d.vector))
		if at[i] == len(d.vector) {
			done++
		}
		if whole := at[i] == len(d.vector); whole != (r.State == wire.UploadTaken) || !whole &&
			r.Offset != uint64(at[i]) {
			t.Fatalf("%s has sent %d of %d bytes: answer %+v", d.id, at[i], len(d.vector), r)
		}
		storeAll(t, c, log, out)
	}
	if c.N != n+1 || c.vectors.Count() != 0 || c.vectors.Promised != 0 {
		t.Fatalf("after record %d, with %d vectors under way, want a round", c.N,
			c.vectors.Count())
	}
}

// A device continues at the offset that the coordinator names, whatever messages were lost or
// repeated.
func TestUploadGoesOnWhereItIs(t *testing.T) {
	plan := densePlan(t, 2)
	plan.Dim = 25
	c, log := newDenseCore(t, plan)
	list := senders(rand.New(rand.NewPCG(3, 4)), 2, 25)
	a, more := list[0], wire.UploadMore
	a.piece(t, c, 1, 0, 0, more, 0) // only asks
	a.piece(t, c, 1, 0, 33, more, 33)
	a.piece(t, c, 1, 0, 33, more, 33)  // again
	a.piece(t, c, 1, 60, 40, more, 33) // the piece before was lost
	a.piece(t, c, 1, 20, 50, more, 33)
	a.piece(t, c, 1, 33, 0, more, 33)
	if got := c.Status().Uploads; got != 1 {
		t.Errorf("%d vectors are under way, want 1", got)
	}
	a.piece(t, c, 1, 33, 67, wire.UploadTaken, 0)
	a.piece(t, c, 1, 0, 100, wire.UploadTaken, 0)  // its answer was lost
	a.piece(t, c, 1, 33, 67, wire.UploadTaken, 0)  // or an earlier one
	a.piece(t, c, 1, 100, 10, wire.UploadTaken, 0) // or it asks
	if got := c.counters; got.Duplicate != 3 || got.Contributions != 1 {
		t.Errorf("counters %+v, want 3 duplicates of one contribution", got)
	}
	storeAll(t, c, log, list[1].whole(t, c, 2))
	if _, data := lastRound(t, log); !bytes.Equal(data,
		chaintest.Vector(exactMean(list, false)...)) {
		t.Error("the mean is not that of the two vectors")
	}
}

// The core answers the piece that closes a round before it appends the record. While the log
// appends, the device gets the same answer again.
func TestUploadIsAnsweredBeforeTheRecord(t *testing.T) {
	c, _ := newDenseCore(t, densePlan(t, 1))
	d := &sender{id: "d0", vector: chaintest.Vector(1, 2, 3, 4), weight: 1}
	if out := d.whole(t, c, 1); len(out) != 1 || out[0].Kind != OutAppend || out[0].Object == nil {
		t.Fatalf("outputs %+v, want the append and its vector", out)
	}
	d.whole(t, c, 2)
	c.Step(3, Input{Kind: InAppendFailed, N: 2, Err: errDisk})
	d.whole(t, c, 4)
	if got := c.counters; got.Duplicate != 2 || got.Late != 0 {
		t.Errorf("counters %+v, want 2 duplicates", got)
	}
}

// A coordinator that stops in the middle of a vector has no piece of that vector after the restart.
func TestRestartInTheMiddleOfAVector(t *testing.T) {
	plan := densePlan(t, 2)
	plan.Dim = 25
	c, log := newDenseCore(t, plan)
	list := senders(rand.New(rand.NewPCG(5, 6)), 2, 25)
	list[0].piece(t, c, 1, 0, 52, wire.UploadMore, 52)
	list[1].whole(t, c, 1)
	c = restartDense(t, log, nil)
	list[0].piece(t, c, 1, 52, 48, wire.UploadMore, 0)
	list[0].whole(t, c, 1)
	storeAll(t, c, log, list[1].whole(t, c, 1))
	if _, data := lastRound(t, log); !bytes.Equal(data,
		chaintest.Vector(exactMean(list, false)...)) {
		t.Error("the mean is not that of the two vectors")
	}
}

// A device that computed another vector sends that vector from its start.
func TestAnotherVectorTakesThePlace(t *testing.T) {
	plan := densePlan(t, 2)
	c, log := newDenseCore(t, plan)
	for i, change := range []func(d *sender){
		func(d *sender) { d.vector = chaintest.Vector(1, 2, 3, 5) },
		func(d *sender) { d.weight++ },
		func(d *sender) { d.loss = 7 },
	} {
		d := &sender{id: "d0", vector: chaintest.Vector(1, 2, 3, 4), weight: 1}
		d.piece(t, c, 1, 0, 8, wire.UploadMore, 8)
		change(d)
		d.piece(t, c, 1, 8, 8, wire.UploadMore, 0)
		if c.vectors.Count() != 1 || c.vectors.Promised != 16+uploads.Room {
			t.Fatalf("change %d: %d vectors, %d bytes", i, c.vectors.Count(),
				c.vectors.Promised)
		}
	}
	d := &sender{id: "d0", vector: chaintest.Vector(1, 2, 3, 4), weight: 1}
	d.piece(t, c, 1, 0, 8, wire.UploadMore, 8)
	d.vector = chaintest.Vector(5, 6, 7, 8)
	d.whole(t, c, 1)
	other := &sender{id: "d1", vector: chaintest.Vector(7, 8, 9, 10), weight: 1}
	storeAll(t, c, log, other.whole(t, c, 1))
	if _, data := lastRound(t, log); !bytes.Equal(data, chaintest.Vector(6, 7, 8, 9)) {
		t.Errorf("mean %x", data)
	}
}

func TestUploadsAreRefused(t *testing.T) {
	inf, nan := float32(math.Inf(-1)), float32(math.NaN())
	good := []float32{1, 2, 3, 4}
	for _, test := range []struct {
		name    string
		id      string
		values  []float32
		change  func(u *wire.Upload)
		counter func(c *report.Counters) *uint64
	}{
		{"stranger", "who", good, nil, func(c *report.Counters) *uint64 { return &c.Unknown }},
		{"late", "d0", good, func(u *wire.Upload) { u.N-- },
			func(c *report.Counters) *uint64 { return &c.Late }},
		{"early", "d0", good, func(u *wire.Upload) { u.N++ },
			func(c *report.Counters) *uint64 { return &c.OtherRecord }},
		{"other state", "d0", good, func(u *wire.Upload) { u.Tip[0]++ },
			func(c *report.Counters) *uint64 { return &c.WrongTip }},
		{"too short", "d0", good[:3], nil, func(c *report.Counters) *uint64 { return &c.WrongCount }},
		{"too long", "d0", append(good, 5), nil,
			func(c *report.Counters) *uint64 { return &c.WrongCount }},
		{"NaN", "d0", []float32{1, nan, 3, 4}, nil,
			func(c *report.Counters) *uint64 { return &c.NonFinite }},
		{"infinity", "d0", []float32{1, 2, 3, inf}, nil,
			func(c *report.Counters) *uint64 { return &c.NonFinite }},
		{"too large", "d0", []float32{1, 2, -2e20, 4}, nil,
			func(c *report.Counters) *uint64 { return &c.TooLarge }},
		{"no loss", "d0", good, func(u *wire.Upload) { u.Loss = nan },
			func(c *report.Counters) *uint64 { return &c.NonFinite }},
	} {
		c, _ := newDenseCore(t, densePlan(t, 2))
		for again := range 2 {
			b := chaintest.Vector(test.values...)
			u := wire.Upload{N: 2, Tip: c.Hash.Tip(), Weight: 1, Size: uint64(len(b)),
				Digest: wire.HashObject(b), Data: b}
			if test.change != nil {
				test.change(&u)
			}
			r, out := sendFrame(t, c, 1, test.id, u.Append(nil))
			if r.State != wire.UploadRefused || r.N != u.N || len(out) > 0 {
				t.Errorf("%s: answer %+v, then %v", test.name, r, out)
			}
			if got := *test.counter(&c.counters); got == 0 ||
				c.counters.Dropped() != uint64(again+1) {
				t.Errorf("%s: counters %+v", test.name, c.counters)
			}
		}
		if c.chain.Taken != 0 || c.vectors.Count() != 0 {
			t.Errorf("%s: it counts, or has a place", test.name)
		}
	}
}

func TestUploadOfADeviceThatIsNotAsked(t *testing.T) {
	plan := densePlan(t, 8)
	plan.Target, plan.OverSample = 4, 1
	c, _ := newDenseCore(t, plan)
	counted := map[wire.UploadState]int{}
	for _, d := range senders(rand.New(rand.NewPCG(7, 8)), 8, 4) {
		r, _ := sendFrame(t, c, 1, d.id, d.frame(c, 0, 16))
		counted[r.State]++
	}
	if counted[wire.UploadTaken] != 4 || counted[wire.UploadRefused] != 4 ||
		c.counters.Unsampled+c.counters.Late != 4 || c.counters.Unsampled == 0 {
		t.Errorf("answers %v, counters %+v, want 4 taken and 4 refused", counted, c.counters)
	}
}

// The core counts a contribution of the wrong transport, and does nothing else with it.
func TestDenseAndOthersDoNotMix(t *testing.T) {
	dense, _ := newDenseCore(t, densePlan(t, 2))
	reply := wire.Reply{Kind: wire.Contribution, N: 2, Tip: dense.Hash.Tip(), Weight: 1,
		Values: chaintest.Vector(1, 2, 3, 4)}
	dense.Step(1, Input{Kind: InReply, ID: "d0", Frame: reply.Append(nil)})
	if dense.counters.WrongCount != 1 || dense.chain.Taken != 0 {
		t.Errorf("scalars with transport=dense: counters %+v", dense.counters)
	}
	decline := wire.Reply{Kind: wire.Decline, N: 2, Tip: dense.Hash.Tip(), Reason: wire.DeclineBusy}
	dense.Step(1, Input{Kind: InReply, ID: "d0", Frame: decline.Append(nil)})
	if dense.counters.Declines != 1 {
		t.Errorf("a decline with transport=dense: counters %+v", dense.counters)
	}
	other := newTestCore(t, chaintest.Plan(t), 2)
	d := &sender{id: "d0", vector: chaintest.Vector(1, 2), weight: 1}
	d.piece(t, other, 1, 0, 8, wire.UploadRefused, 0)
	if other.counters.Malformed != 1 || other.chain.Taken != 0 {
		t.Errorf("a vector in a run of scalars: counters %+v", other.counters)
	}
	for _, token := range []string{"", "zo.r.a.0", "$JS.API"} {
		if out := dense.Step(1, Input{Kind: InUpload, ID: "d0", Token: token,
			Frame: d.frame(dense, 0, 8)}); len(out) != 0 {
			t.Errorf("a vector to be answered at %q: %v", token, out)
		}
	}
	if out := dense.Step(1, Input{Kind: InUpload, ID: "d0", Token: "t",
		Frame: []byte{1}}); len(out) != 0 || dense.counters.Malformed != 4 {
		t.Errorf("no frame at all: %v, counters %+v", out, dense.counters)
	}
}

// A device may send a damaged vector once more.
func TestDamagedVectorComesOnceMore(t *testing.T) {
	for _, pieces := range []int{1, 2} {
		c, log := newDenseCore(t, densePlan(t, 1))
		d := &sender{id: "d0", vector: chaintest.Vector(1, 2, 3, 4), weight: 1}
		digest := wire.HashObject(d.vector)
		damaged := &sender{id: "d0", vector: chaintest.Vector(1, 2, 3, 5), weight: 1,
			digest: &digest}
		spoil := func(want wire.UploadState) {
			t.Helper()
			for at := 0; at < 16; at += 16 / pieces {
				state := wire.UploadMore
				if at+16/pieces == 16 {
					state = want
				}
				from := (at + 16/pieces) % 16
				damaged.piece(t, c, 1, at, 16/pieces, state, from)
			}
		}
		spoil(wire.UploadMore)
		if c.counters.WrongDigest != 1 || c.vectors.Count() > 0 {
			t.Errorf("counters %+v", c.counters)
		}
		spoil(wire.UploadRefused)
		d.piece(t, c, 1, 0, 16, wire.UploadRefused, 0) // it had its second chance
		if c.counters.WrongDigest != 2 || c.chain.Taken != 0 {
			t.Errorf("counters %+v", c.counters)
		}
		c = restartDense(t, log, nil) // forgets the faults
		spoil(wire.UploadMore)
		storeAll(t, c, log, d.whole(t, c, 1))
		if _, data := lastRound(t, log); !bytes.Equal(data, d.vector) {
			t.Error("the vector that came whole is not the mean")
		}
		d.vector = chaintest.Vector(4, 3, 2, 1)
		damaged.digest = nil
		storeAll(t, c, log, d.whole(t, c, 1)) // nothing is held against it
	}
}
