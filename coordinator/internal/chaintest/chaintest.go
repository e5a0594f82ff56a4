package chaintest

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/preset"
)

// testPlan is a small plan of a dense roster: 2 members, both asked, 2 scalars.
func Plan(t testing.TB) *wire.Plan {
	t.Helper()
	p, err := preset.New("decomfl", "r", 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.RunKey {
		p.RunKey[i] = byte(i)
	}
	p.Perturbations, p.Diverge = 2, 0
	p.Members, p.Target, p.Quorum = 2, 2, 1
	p.Deadline, p.Reannounce, p.DigestEvery = 10_000, 3_000, 0
	return p
}

// chain returns n encoded records of a run: a plan and rounds.
func Records(t testing.TB, n int) [][]byte {
	t.Helper()
	prev := wire.Genesis("r")
	records := make([][]byte, n)
	for i := range records {
		r := wire.Record{N: uint64(i) + 1, Prev: prev, Epoch: 1, Kind: wire.KindPlan, Plan: Plan(t)}
		if i > 0 {
			r.Kind, r.Plan = wire.KindRound, nil
			r.Round = &wire.Round{Round: uint64(i), Step: 1, Perturbations: 2, Contributors: 1,
				Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, float32(i), 0.5)}}}
		}
		records[i] = r.Append(nil)
		prev = wire.HashRecord(records[i])
	}
	return records
}

// longChain returns n records of a log, rounds of about size bytes.
func LongRecords(t testing.TB, n, size int) [][]byte {
	t.Helper()
	prev := wire.Genesis("r")
	scalars := wire.AppendScalars(nil, make([]float32, size/4)...)
	records := make([][]byte, n)
	for i := range records {
		r := wire.Record{N: uint64(i) + 1, Prev: prev, Epoch: 1, Kind: wire.KindPlan, Plan: Plan(t)}
		if i > 0 {
			r.Kind, r.Plan = wire.KindRound, nil
			r.Round = &wire.Round{Round: uint64(i), Step: 1, Perturbations: 2, Contributors: 1,
				Terms: []wire.Term{{Scalars: scalars}}}
		}
		records[i] = r.Append(nil)
		prev = wire.HashRecord(records[i])
	}
	return records
}

// An appender is what [appendAll] needs of a log.
type appender interface {
	Append(ctx context.Context, n uint64, record []byte) error
	Last() uint64
}

// appendAll appends records to a log.
func Append(t testing.TB, log appender, records [][]byte) {
	t.Helper()
	for _, r := range records {
		if err := log.Append(t.Context(), log.Last()+1, r); err != nil {
			t.Fatal(err)
		}
	}
}

// A logReader is what [checkLog] needs of a log.
type logReader interface {
	Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error
	Last() uint64
}

// checkLog compares what a log holds with records.
func Check(t testing.TB, log logReader, want [][]byte) {
	t.Helper()
	if got := log.Last(); got != uint64(len(want)) {
		t.Fatalf("Last() = %d, want %d", got, len(want))
	}
	for _, from := range []int{0, 1, 2, len(want), len(want) + 1} {
		var got [][]byte
		next := uint64(max(from, 1))
		err := log.Read(t.Context(), uint64(from), func(n uint64, record []byte) bool {
			if n != next {
				t.Errorf("Read(%d) came to record %d, want %d", from, n, next)
			}
			next++
			got = append(got, bytes.Clone(record))
			return true
		})
		rest := want[min(max(from, 1)-1, len(want)):]
		if err != nil || !slices.EqualFunc(got, rest, bytes.Equal) {
			t.Errorf("Read(%d): %d records, %v, want %d as they were appended", from, len(got), err, len(rest))
		}
	}
}

func Vector(values ...float32) []byte { return wire.AppendScalars(nil, values...) }

// randomVector has numbers of many sizes.
func RandomVector(rng *rand.Rand, n int) []byte {
	var b []byte
	for range n {
		v := float32(rng.NormFloat64()) * float32(math.Ldexp(1, rng.IntN(60)-30))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
