package runlog

import (
	"context"
	"testing"

	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// Copy copies the handover of the last record, so a coordinator of the copy makes the same records.
func TestCopyHandover(t *testing.T) {
	var from, to Memory
	ctx := context.Background()
	p, err := preset.Unbound("decomfl", "r", 4)
	if err != nil {
		t.Fatal(err)
	}
	first := wire.Record{N: 1, Epoch: 1, Kind: wire.KindPlan, Plan: p, Prev: wire.Genesis("r")}
	record := first.Append(nil)
	if err := from.HandOver(ctx, 1, wire.HashRecord(record).Tip(), []byte("trend")); err != nil {
		t.Fatal(err)
	}
	if err := from.Append(ctx, 1, record); err != nil {
		t.Fatal(err)
	}
	if err := Copy(ctx, &to, &from, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := HandoverOf(ctx, &to); err != nil || string(got) != "trend" {
		t.Errorf("the copy has the handover %q, %v", got, err)
	}
}
