// Package chaintest makes the logs of small runs for tests. The package imports no log, so the
// tests of every log can use it.
package chaintest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// Plan returns a small plan with a listed roster of 2 members; each round asks both for 2 scalars.
func Plan(t testing.TB) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "r", 4)
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

// PlanWith returns the small plan with fields, each as name=value, for a number of devices, all of
// which take part in every round.
func PlanWith(t testing.TB, fields []string, devices uint32) *plan.Plan {
	t.Helper()
	p := Plan(t)
	p.Members, p.Target, p.Perturbations = devices, devices, 3
	if _, err := planfile.SetAll(p, fields); err != nil {
		t.Fatal(err)
	}
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// DensePlan returns the plan of [PlanWith] with transport=dense.
func DensePlan(t testing.TB, devices uint32, fields ...string) *plan.Plan {
	t.Helper()
	fields = append([]string{"transport=dense", "dense_keep=4", "max_scalar=1e20"}, fields...)
	return PlanWith(t, fields, devices)
}

// IDs returns the ids of n devices: d0, d1, ...
func IDs(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("d%d", i)
	}
	return list
}

// Records returns n encoded records of a run: a plan and rounds.
func Records(t testing.TB, n int) [][]byte {
	t.Helper()
	prev := wire.Genesis("r")
	records := make([][]byte, n)
	for i := range records {
		r := wire.Record{N: uint64(i) + 1, Prev: prev, Epoch: 1, Kind: wire.KindPlan, Plan: Plan(t)}
		if i > 0 {
			r.Kind, r.Plan = wire.KindRound, nil
			r.Round = &wire.Round{Round: uint64(i), StepSize: 1, Perturbations: 2, Contributors: 1,
				Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, float32(i), 0.5)}}}
		}
		records[i] = r.Append(nil)
		prev = wire.HashRecord(records[i])
	}
	return records
}

// LongRecords returns n encoded records of a run. Each round has about size bytes.
func LongRecords(t testing.TB, n, size int) [][]byte {
	t.Helper()
	prev := wire.Genesis("r")
	scalars := wire.AppendScalars(nil, make([]float32, size/4)...)
	records := make([][]byte, n)
	for i := range records {
		r := wire.Record{N: uint64(i) + 1, Prev: prev, Epoch: 1, Kind: wire.KindPlan, Plan: Plan(t)}
		if i > 0 {
			r.Kind, r.Plan = wire.KindRound, nil
			r.Round = &wire.Round{Round: uint64(i), StepSize: 1, Perturbations: 2, Contributors: 1,
				Terms: []wire.Term{{Scalars: scalars}}}
		}
		records[i] = r.Append(nil)
		prev = wire.HashRecord(records[i])
	}
	return records
}

// An appender is the part of a log that [Append] needs.
type appender interface {
	Append(ctx context.Context, n uint64, record []byte) error
	Last() uint64
}

// Append appends records to a log.
func Append(t testing.TB, log appender, records [][]byte) {
	t.Helper()
	for _, r := range records {
		if err := log.Append(t.Context(), log.Last()+1, r); err != nil {
			t.Fatal(err)
		}
	}
}

// A logReader is the part of a log that [Check] needs.
type logReader interface {
	Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error
	Last() uint64
}

// Check compares the contents of a log with records.
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
				t.Errorf("Read(%d) returned record %d, want %d", from, n, next)
			}
			next++
			got = append(got, bytes.Clone(record))
			return true
		})
		rest := want[min(max(from, 1)-1, len(want)):]
		if err != nil || !slices.EqualFunc(got, rest, bytes.Equal) {
			t.Errorf("Read(%d): %d records, %v, want %d as they were appended", from, len(got), err,
				len(rest))
		}
	}
}

func Vector(values ...float32) []byte { return wire.AppendScalars(nil, values...) }

// RandomVector returns n numbers of many magnitudes.
func RandomVector(rng *rand.Rand, n int) []byte {
	var b []byte
	for range n {
		v := float32(rng.NormFloat64()) * float32(math.Ldexp(1, rng.IntN(60)-30))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// Mean returns the weighted mean of vectors, computed with rationals.
func Mean(vectors [][]byte, weights []int64) []float32 {
	mean := make([]float32, len(vectors[0])/4)
	for i := range mean {
		sum, total := new(big.Rat), int64(0)
		for j, vector := range vectors {
			v := new(big.Rat).SetFloat64(float64(wire.Scalars(vector).At(i)))
			sum.Add(sum, v.Mul(v, big.NewRat(weights[j], 1)))
			total += weights[j]
		}
		mean[i], _ = sum.Quo(sum, big.NewRat(total, 1)).Float32()
	}
	return mean
}
