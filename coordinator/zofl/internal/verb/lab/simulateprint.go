package lab

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/simulate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// printRuns prints a table with a row for each setting. printRuns counts only runs that began.
func printRuns(out io.Writer, axes []simulate.Axis, runs []*simulate.Run) {
	var header []any
	for _, a := range axes {
		header = append(header, a.Field)
	}
	metrics := metricsOf(runs)
	for _, name := range metrics {
		header = append(header, "metric "+name)
	}
	header = append(header, "loss at first", "at the end", "rounds", "evaluations", "bytes up",
		"bytes down", "seconds", "ended")
	t := cli.NewTable(out, header...)
	for _, group := range simulate.Groups(runs) {
		var row table.Row
		for _, s := range group[0].Settings {
			row = append(row, s.Value)
		}
		mean := func(of func(*simulate.Outcome) float64) string { return meanOf(group, of) }
		for _, name := range metrics {
			row = append(row, mean(func(o *simulate.Outcome) float64 {
				if v, ok := o.Metrics[name]; ok {
					return float64(v)
				}
				return math.NaN()
			}))
		}
		t.AppendRow(append(row,
			mean(func(o *simulate.Outcome) float64 { return float64(o.First) }),
			mean(func(o *simulate.Outcome) float64 { return float64(o.Loss) }),
			mean(func(o *simulate.Outcome) float64 { return float64(o.Rounds) }),
			mean(func(o *simulate.Outcome) float64 { return float64(o.Queries) }),
			mean(func(o *simulate.Outcome) float64 { return float64(o.Up) }),
			mean(func(o *simulate.Outcome) float64 { return float64(o.Down) }),
			mean(func(o *simulate.Outcome) float64 { return float64(o.Seconds) }), endedOf(group)))
	}
	t.Render()
	fmt.Fprintln(out, "Evaluations are those of all devices together, bytes those of a device, and "+
		"the loss\nat the end is the mean of the last tenth of the rounds.")
	if len(runs) > 0 && len(simulate.Groups(runs)[0]) > 1 {
		fmt.Fprintln(out, "Values are means over the seeds, with the standard deviation.")
	}
	printFound(out, runs)
	for _, r := range runs {
		if r.Outcome.Best != nil {
			fmt.Fprintf(out, "Best model of run %s: %v.\n", terminal.Plain(r.Name), r.Outcome.Best)
		}
		if r.Outcome.Warning != "" {
			fmt.Fprintf(out, "%s: %s\n", r.Name, terminal.Plain(r.Outcome.Warning))
		}
	}
	if stuck(runs) {
		fmt.Fprintln(out, "\nThe loss did not fall. With step=auto the first rounds only measure. "+
			"docs/faq.md has other causes\nand their remedies.")
	}
}

// printFound prints the values that the devices of the first run found, and the reasons. With
// --json the line of each run has these values.
func printFound(out io.Writer, runs []*simulate.Run) {
	if len(runs) == 0 || len(runs[0].Outcome.Found) == 0 {
		return
	}
	fmt.Fprintf(out, "\nWhat run %s found:\n", terminal.Plain(runs[0].Name))
	for _, f := range runs[0].Outcome.Found {
		what := f.Of
		if f.Value != 0 {
			what = fmt.Sprintf("%s=%v", f.Of, f.Value)
		}
		fmt.Fprintln(out, cli.Wrapped(fmt.Sprintf("%s: %s.", what, f.Why), cli.TextWidth))
	}
}

// stuck reports whether some runs came to their end and in none of them the loss fell, in the
// digits that the table shows. stuck returns false if a first loss is 0, because such a loss cannot
// fall.
func stuck(runs []*simulate.Run) (stuck bool) {
	for _, r := range runs {
		if o := &r.Outcome; o.Done() {
			first, last := float64(o.First), float64(o.Loss)
			if first == 0 || last < first && brief(last) != brief(first) {
				return false
			}
			stuck = true
		}
	}
	return stuck
}

// meanOf returns the mean of a value over runs, with its standard deviation if they differ. meanOf
// leaves out values that are not numbers.
func meanOf(runs []*simulate.Run, of func(*simulate.Outcome) float64) string {
	var values []float64
	sum, squares := 0.0, 0.0
	for _, r := range runs {
		if v := of(&r.Outcome); r.Outcome.Ended != "" && !math.IsNaN(v) && !math.IsInf(v, 0) {
			values, sum = append(values, v), sum+v
		}
	}
	if len(values) == 0 {
		return "-"
	}
	if slices.Min(values) == slices.Max(values) { // rounding could change their mean
		return brief(values[0])
	}
	n := float64(len(values))
	mean := sum / n
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return brief(mean) + " ± " + brief(math.Sqrt(squares/(n-1)))
}

// brief writes a value in a few digits.
func brief(v float64) string {
	switch {
	case v == math.Trunc(v) && math.Abs(v) < 1e15, math.Abs(v) >= 1000:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// endedOf lists the different ways in which runs ended.
func endedOf(runs []*simulate.Run) string {
	var ways []string
	count := make(map[string]int)
	for _, r := range runs {
		way := cmp.Or(r.Outcome.Ended, "not run")
		if count[way]++; count[way] == 1 {
			ways = append(ways, way)
		}
	}
	if len(ways) == 1 {
		return ways[0]
	}
	for i, way := range ways {
		ways[i] = fmt.Sprint(count[way], " ", way)
	}
	return strings.Join(ways, ", ")
}

// A runsBar is a [simulate.Sink] that shows the progress of all runs on a bar.
type runsBar struct {
	*terminal.Bar
	out    io.Writer
	before uint64   // rounds of the runs before
	until  []uint64 // entry i: rounds of runs 1 to i+1 together
}

func newRunsBar(out *os.File, runs []*simulate.Run) *runsBar {
	b, sum := &runsBar{out: out}, uint64(0)
	for _, r := range runs {
		sum += r.Plan.Rounds
		b.until = append(b.until, sum)
	}
	b.Bar = terminal.NewBar(out, "round", sum)
	return b
}

// Begin implements [simulate.Sink].
func (b *runsBar) Begin(*simulate.Run) error { return nil }

// Round implements [simulate.Sink].
func (b *runsBar) Round(r *simulate.Run, row simulate.Row) error {
	b.Show(b.before+row.Round,
		fmt.Sprintf("run %d of %d  loss %.4f", r.Number, r.Of, float64(row.Loss)))
	return nil
}

// End implements [simulate.Sink].
func (b *runsBar) End(r *simulate.Run) error {
	b.before = b.until[r.Number-1]
	if b.Moves() {
		return nil
	}
	o := r.Outcome
	how := fmt.Sprintf("loss %.4f after round %d", float64(o.Loss), o.Rounds)
	if !o.Done() {
		how = fmt.Sprintf("%s after round %d", o.Ended, o.Rounds)
	}
	fmt.Fprintf(b.out, "run %d of %d, %s: %s\n", r.Number, r.Of, r.Name, how)
	return nil
}
