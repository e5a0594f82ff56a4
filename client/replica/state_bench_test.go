package replica

import (
	"bytes"
	"io"
	"testing"

	"github.com/zofl/zofl/plan"
)

// BenchmarkState saves and loads a model of 1.2 million parameters with momentum, in
// memory.
func BenchmarkState(b *testing.B) {
	p := basePlan()
	p.Dim, p.Rule, p.Beta = 1_206_590, plan.Momentum, 0.9
	r := New(Config{Run: p.Run})
	if err := r.Apply(newChain(p.Run).plan(p)); err != nil {
		b.Fatal(err)
	}
	file := fileOf(b, r, History{})
	b.Run("save", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			if err := r.Save(io.Discard, History{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := Load(Config{Run: p.Run}, bytes.NewReader(file), int64(len(file))); err != nil {
				b.Fatal(err)
			}
		}
	})
}
