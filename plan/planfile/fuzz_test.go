package planfile_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// FuzzPlanJSON: writing and reading an accepted plan file gives the same plan. So does encoding and
// decoding the record of a valid plan.
func FuzzPlanJSON(f *testing.F) {
	seeds := 0
	for _, b := range records(f) {
		r, err := wire.DecodeRecord(b)
		if err != nil {
			f.Fatal(err)
		}
		if r.Plan == nil {
			continue
		}
		file, err := json.Marshal((*planfile.Plan)(r.Plan))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		seeds++
	}
	if seeds == 0 {
		f.Fatal("no plans among the vectors")
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var p plan.Plan
		if json.Unmarshal(file, (*planfile.Plan)(&p)) != nil {
			return
		}
		if valid.Plan(&p) != nil {
			return
		}
		again, err := json.Marshal((*planfile.Plan)(&p))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var q plan.Plan
		if err := json.Unmarshal(again, (*planfile.Plan)(&q)); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		record := (&wire.Record{N: 1, Kind: wire.KindPlan, Plan: &p}).Append(nil)
		r, err := wire.DecodeRecord(record)
		if err != nil {
			t.Fatalf("a valid plan's record is not read: %s: %v", file, err)
		}
		if err := valid.Plan(r.Plan); err != nil {
			t.Fatalf("valid in a file, not in a record: %v", err)
		}
		if other := (&wire.Record{N: 1, Kind: wire.KindPlan, Plan: &q}).Append(nil); !bytes.Equal(
			other, record) {
			t.Errorf("another plan after writing and reading\n%s\n%s", file, again)
		}
	})
}
