package lab

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// screening is a small experiment: softmax on drawn digits, with a claim about queries.
func screening(e *Env) (*Report, error) {
	x := Experiment{ID: "screening", Do: func(t *Trial) error {
		s, err := t.Env.MNIST()
		if err != nil {
			return err
		}
		task, _ := s.Task(false)
		one := &Training{Name: "softmax", Preset: "decomfl", Clients: 4, Asked: 2, Rounds: 11, Every: 5,
			Task: task, Order: run.Draws,
			Shares: func(seed uint64) ([][]int, error) { return data.IID(s.Train.Len(), 4, seed) },
			Set:    func(p *plan.Plan) { p.Perturbations, p.Batch, p.StepSize = 10, 8, 1e-3 },
		}
		results, err := t.Env.Train(t.Ctx, "screening", one, 1)
		if err != nil {
			return err
		}
		t.Report.AddCurves(run.Accuracy, results)
		c := results[0].Curve
		t.Report.Claim(true, "some queries", "%d queries", c.Points[len(c.Points)-1].AsBlackBoxes())
		return nil
	}}
	return x.Run(context.Background(), e)
}

// TestScreen: the report of a screened experiment has the costs of black boxes, says that rounds
// made no queries, and is kept apart.
func TestScreen(t *testing.T) {
	e := &Env{Generated: 200, Logf: t.Logf, Dir: t.TempDir()}
	plain, err := screening(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Screen = true
	r, err := screening(e)
	if err != nil {
		t.Fatal(err)
	}
	was, is := plain.Claims[0].Figures, r.Claims[0].Figures
	if want := strings.ReplaceAll(was, "queries", "spared queries") + " (" + byGradients +
		")"; is != want || was == "0 queries" {
		t.Errorf("the claim says %q, want %q", is, want)
	}
	var text, table bytes.Buffer
	if err := r.WriteText(&text); err != nil ||
		!strings.Contains(text.String(), "rounds made no queries") {
		t.Errorf("%v, the text is %q", err, text.String())
	}
	if err := r.WriteJSON(&text); err != nil || !strings.Contains(text.String(), `"screened": true`) {
		t.Errorf("%v, the text is %q", err, text.String())
	}
	if err := r.Table.WriteCSV(&table); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	first, last := rows[0], rows[len(rows)-1]
	if n := len(first); first[n-2] != "gradients" || first[n-1] != "spared_queries" ||
		first[3] != "queries" || last[3] != "0" || last[n-2] == "0" ||
		!strings.HasPrefix(was, last[n-1]+" ") {
		t.Errorf("%v\n%v", first, last)
	}
	dirs, err := os.ReadDir(e.Dir + "/screening")
	if err != nil || len(dirs) != 2 || !strings.HasSuffix(dirs[1].Name(), "-screened") {
		t.Errorf("%v, %v: want two logs", dirs, err)
	}
}

// TestAddGradients: a table has the columns from the first curve with gradients on, and every
// row has as many fields.
func TestAddGradients(t *testing.T) {
	curve := func(gradients uint64) Results {
		return Results{{Curve: &run.Curve{Name: "c", Seed: 1, Points: []run.Point{
			{Round: 1, Queries: 3}, {Round: 2, Queries: 6, Gradients: gradients, Spared: 5 * gradients},
		}}}}
	}
	r := &Report{}
	for _, gradients := range []uint64{0, 4, 0} {
		r.AddCurves("", curve(gradients))
	}
	want := []string{"0 0", "0 0", "0 0", "4 20", "0 0", "0 0"}
	for i, row := range r.Table.Rows {
		if n := len(r.Table.Columns); len(row) != n || strings.Join(row[n-2:], " ") != want[i] {
			t.Errorf("row %d is %q, want %d columns and %q last", i, row, n, want[i])
		}
	}
	r = &Report{}
	if r.AddCurves("", curve(0)); len(r.Table.Columns) != 7 || len(r.Table.Rows[0]) != 7 {
		t.Errorf("a table without gradients has the columns %q", r.Table.Columns)
	}
}
