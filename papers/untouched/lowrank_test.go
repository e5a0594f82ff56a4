package untouched

import (
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/plan/valid"
)

// TestLowRank runs the experiment on drawn data: each arm has scores of its own, and the last has
// more rounds.
func TestLowRank(t *testing.T) {
	e := &lab.Env{Generated: 300, Seeds: 1, Rounds: 12, Tasks: []string{"covtype-mlp"}}
	r := labtest.Run(t, LowRank(), e)
	if len(r.Table.Rows) != 3 || len(r.Claims) != 2 || len(r.Summary.Rows) != 2 {
		t.Fatalf("%d runs, %d claims, %d rows, want 3, 2 and 2", len(r.Table.Rows), len(r.Claims),
			len(r.Summary.Rows))
	}
	full, rank1, longer := r.Table.Rows[0], r.Table.Rows[1], r.Table.Rows[2]
	if full[8] == rank1[8] || rank1[5] != "12" || longer[5] != "13" {
		t.Errorf("runs %v, %v and %v", full, rank1, longer)
	}
}

// TestWithMatrix: rank 1 has a matrix in each task that the experiment takes, and in no other.
func TestWithMatrix(t *testing.T) {
	e := &lab.Env{Generated: 300}
	list := withMatrix()
	for _, task := range eightTasks() {
		task.Train, task.Test = 300, 300
		b, err := newBench(e, task)
		if err != nil {
			t.Fatal(err)
		}
		x := &trial{Trial: lab.NewTrial(t.Context(), e, "lowrank"), size: &size{rounds: 20,
			queries: 12_000}}
		p, _, err := x.plan(b, "zofl", 1)
		if err != nil {
			t.Fatal(err)
		}
		lowRank(p, b.model)
		takes := false
		for _, other := range list {
			takes = takes || other.Name == task.Name
		}
		if err := valid.Plan(p); (err == nil) != takes {
			t.Errorf("%s: taken %v, %v", task.Name, takes, err)
		}
	}
}
