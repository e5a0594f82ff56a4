package mobile

import (
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
)

func TestColumns(t *testing.T) {
	c, err := NewColumns(2)
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]float32{{1, 100}, {3, 300}}
	for _, row := range rows {
		if err := c.AddRow(bytesOf(row)); err != nil {
			t.Fatal(err)
		}
	}
	cfg := NewConfig()
	if err := cfg.SetColumns(c); err != nil || len(cfg.columns) != 2 || cfg.columns[1].Mean != 200 {
		t.Errorf("columns %+v, %v", cfg.columns, err)
	}
	p := &Plan{plan: plan.Plan{ModelFields: plan.ModelFields{Stats: stats.Of(rows)}}}
	s := p.Scaler()
	scaled, err := s.Scaled(bytesOf([]float32{3, 100}))
	if got := getFloats(scaled); err != nil || s.Columns() != 2 || got[0] != 1 || got[1] != -1 {
		t.Errorf("scaled %v, %v", got, err)
	}
	if s.Mean(0) != 2 || s.Std(1) != 100 || !math.IsNaN(s.Mean(2)) || !math.IsNaN(s.Std(-1)) {
		t.Errorf("means %v, stds %v", s.Mean(0), s.Std(1))
	}
	none := (&Plan{}).Scaler()
	if none != nil || none.Columns() != 0 || !math.IsNaN(none.Mean(0)) {
		t.Error("a plan without statistics has a scaler")
	}
	for _, err := range []error{c.AddRow(make([]byte, 4)), (&Columns{}).AddRow(nil),
		cfg.SetColumns(nil), cfg.SetColumns(&Columns{}), secondOf(none.Scaled(nil)),
		secondOf(s.Scaled(make([]byte, 4))), secondOf(NewColumns(0)), secondOf(NewColumns(1 << 20))} {
		if codeOf(err) != CodeConfig {
			t.Errorf("got %v, want %s", err, CodeConfig)
		}
	}
}

func secondOf[T any](_ T, err error) error { return err }
