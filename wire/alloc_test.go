package wire_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/wiretest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

func TestReplyDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"reply-contribution", "reply-contribution-large",
		"reply-evaluation", "reply-decline", "reply-digest"} {
		frame := vector(t, name)
		var reply wire.Reply
		decode := func() {
			var err error
			if reply, err = wire.DecodeReply(frame); err != nil {
				t.Fatal(err)
			}
		}
		if got := testing.AllocsPerRun(100, decode); got != 0 {
			t.Errorf("%s: decoding allocates %v times", name, got)
		}
		room := make([]byte, 0, len(frame))
		if got := testing.AllocsPerRun(100, func() { room = reply.Append(room[:0]) }); got != 0 {
			t.Errorf("%s: encoding into a buffer with room allocates %v times", name, got)
		}
	}
}

// A coordinator decodes a piece of a vector and encodes the answer without allocating.
func TestUploadDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"upload-piece", "upload-whole", "upload-rest"} {
		frame, room := vector(t, name), make([]byte, 0, 256)
		var u wire.Upload
		decode := func() {
			var err error
			if u, err = wire.DecodeUpload(frame); err != nil {
				t.Fatal(err)
			}
		}
		if got := testing.AllocsPerRun(100, decode); got != 0 {
			t.Errorf("%s: decoding allocates %v times", name, got)
		}
		if got := testing.AllocsPerRun(100, func() { room = u.Append(room[:0]) }); got != 0 {
			t.Errorf("%s: encoding into a buffer with room allocates %v times", name, got)
		}
	}
	answer, room := wire.UploadReply{N: 10, State: wire.UploadMore, Offset: 4096},
		make([]byte, 0, 64)
	if got := testing.AllocsPerRun(100, func() { room = answer.Append(room[:0]) }); got != 0 {
		t.Errorf("an answer allocates %v times", got)
	}
}

// A reader of many records allocates memory only for the first round, and no value of one record
// remains in the next record.
func TestRoundsDoNotAllocate(t *testing.T) {
	end := (&wire.Record{N: 7, Kind: wire.KindEnd,
		End: &wire.End{Reason: wire.EndRequested}}).Append(nil)
	relay, weighted := vector(t, "record-round-relay"), vector(t, "record-round-relay-weights")
	scaffold, mean := vector(t, "record-round-scaffold-2"), vector(t, "record-round")
	first, most := vector(t, "record-round-phase-1"), vector(t, "record-round-most")
	dense := vector(t, "record-round-dense-phase-2")
	var r wire.Record
	for _, record := range [][]byte{mean, weighted, relay, weighted[:len(weighted)-1], scaffold,
		dense, first, mean, end, dense[:len(dense)-4], relay, most, dense, mean} {
		want, wantErr := wire.DecodeRecord(record)
		err := r.Decode(record)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("Decode after others: %v, DecodeRecord: %v", err, wantErr)
		}
		if err == nil && !bytes.Equal(r.Append(nil), want.Append(nil)) {
			t.Errorf("Decode after others reads %+v, want %+v", r, want)
		}
		if err != nil && (r.N != 0 || r.Kind != 0) {
			t.Errorf("after an error the record is %+v", r)
		}
	}
	for _, record := range [][]byte{weighted, scaffold} {
		if err := r.Decode(record); err != nil {
			t.Fatal(err)
		}
	}
	for name, record := range map[string][]byte{"relay": relay, "with weights": weighted,
		"scaffold-2": scaffold, "mean": mean, "phase 1": first, "dense": dense} {
		if got := testing.AllocsPerRun(100, func() { r.Decode(record) }); got != 0 {
			t.Errorf("%s: a round allocates %v times", name, got)
		}
	}
	name := strings.Repeat("r", plan.MaxName)
	if got := testing.AllocsPerRun(100, func() { plan.BatchSeed(name, name, 9, 1) }); got != 0 {
		t.Errorf("BatchSeed allocates %v times", got)
	}
}

// TestHostileFramesAllocateLittle: whatever sizes a frame claims, decoding the frame allocates at
// most a small multiple of its length. The constant allows for a decode error, or a plan, and for
// the runtime.
func TestHostileFramesAllocateLittle(t *testing.T) {
	const perByte, constant = 10, 1024
	for _, v := range append(loadVectors(t), longFrames()...) {
		runs := uint64(10)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			frames[v.Frame](v.Bytes) // TestVectors checks the error
		}
		runtime.ReadMemStats(&after)
		got := (after.TotalAlloc - before.TotalAlloc) / runs
		if most := uint64(perByte*len(v.Bytes) + constant); got > most {
			t.Errorf("%s: %d bytes allocate %d, want at most %d", v.Name, len(v.Bytes), got, most)
		}
	}
}

// longFrames returns frames for which a decoder allocates as much as possible per byte.
func longFrames() []wiretest.Vector {
	body := func(kind uint64, body wiretest.Value) []byte {
		n := uint64(9)
		if kind == 1 {
			n = 1
		}
		return wiretest.Array(wiretest.Uint(1), wiretest.Uint(kind), wiretest.Uint(n),
			wiretest.Bin(wiretest.Seq(0, 16)...), wiretest.Uint(0), body)
	}
	fill := func(head wiretest.Value, n int, item wiretest.Value) wiretest.Value {
		for range n {
			head = append(head, item...)
		}
		return head
	}
	u, step := wiretest.Uint, wiretest.Float(1)
	terms := fill(wiretest.Wide(0xdc, 4096), 4096, wiretest.Array(u(0), u(0), wiretest.Bin()))
	slots := fill(wiretest.Wide(0xdc, 16384), 16384, u(0))
	weights := fill(wiretest.Wide(0xdc, 4096), 4096, u(1))
	segment := wiretest.Array(wiretest.Str(""), u(0), u(0), wiretest.Float(0), wiretest.Float(0),
		wiretest.Float(0))
	box := wiretest.Array(wiretest.Float(0), wiretest.Float(1))
	// The head claims as many elements as could follow if each element had one byte.
	fewTerms := fill(wiretest.Wide(0xdc, 4096), 820, wiretest.Array(u(0), u(0), wiretest.Bin()))
	fewSegments := fill(wiretest.Wide(0xdc, 512), 27, segment)
	records := fill(wiretest.Wide(0xdc, 30000), 30000, wiretest.Bin())
	return []wiretest.Vector{
		{Name: "terms", Frame: "record", Bytes: body(2, wiretest.Map(u(3), step, u(7), terms))},
		{Name: "few terms", Frame: "record",
			Bytes: body(2, wiretest.Map(u(3), step, u(7), fewTerms))},
		{Name: "few segments", Frame: "record", Bytes: body(1, wiretest.Map(u(6), fewSegments))},
		{Name: "slots", Frame: "record", Bytes: body(2, wiretest.Map(u(3), step, u(6), slots))},
		{Name: "weights", Frame: "record",
			Bytes: body(2, wiretest.Map(u(3), step, u(7), wiretest.Array(), u(11), weights))},
		{Name: "segments", Frame: "record",
			Bytes: body(1, wiretest.Map(u(6), fill(wiretest.Wide(0xdc, 512), 512, segment)))},
		{Name: "boxes", Frame: "record",
			Bytes: body(1, wiretest.Map(u(64), fill(wiretest.Wide(0xdc, 512), 512, box)))},
		{Name: "few boxes", Frame: "record",
			Bytes: body(1, wiretest.Map(u(64), fill(wiretest.Wide(0xdc, 512), 47, box)))},
		{Name: "metrics", Frame: "record",
			Bytes: body(1,
				wiretest.Map(u(40), fill(wiretest.Wide(0xdc, 16), 16, wiretest.Str(""))))},
		{Name: "records", Frame: "catch-up-reply",
			Bytes: wiretest.Array(u(1), u(1), u(1), records)},
		{Name: "long", Frame: "reply", Bytes: make([]byte, wire.MaxFrame+1)},
		{Name: "long upload", Frame: "upload", Bytes: make([]byte, wire.MaxFrame+1)},
		{Name: "long object reply", Frame: "object-reply", Bytes: make([]byte, wire.MaxFrame+1)},
	}
}
