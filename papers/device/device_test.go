package device

import (
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

func TestLag(t *testing.T) {
	r := labtest.Run(t, Lag(), &lab.Env{})
	labtest.AllHold(t, r, 4)
	for _, row := range r.Table.Rows {
		count := func(i int) int { return labtest.Count(t, row[i]) }
		k, p, missed, up, down := count(0), count(1), count(3), count(4), count(5)
		wantUp, wantDown := 10*k*p, 100*k*p
		if missed > 0 {
			wantUp, wantDown = 0, missed*k*p
		}
		if up != wantUp || down != wantDown {
			t.Errorf("%v: want %d scalars up and %d down", row, wantUp, wantDown)
		}
	}
}

func TestMemory(t *testing.T) {
	x := lab.NewTrial(t.Context(), &lab.Env{}, "memory")
	if err := memory(x, 1<<16, 1<<20); err != nil { // a hundredth of d is 39 kB
		t.Fatal(err)
	}
	labtest.AllHold(t, x.Report, 3)
}
