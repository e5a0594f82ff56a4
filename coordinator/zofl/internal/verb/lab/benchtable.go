package lab

import (
	"fmt"
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/kernelbench"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// showStages returns a function that shows the stages of a measurement on a bar, and a function
// that removes the bar.
func showStages(out *os.File) (show func(stage string, done float64), end func()) {
	bar, before := terminal.NewBar(out, "percent", 100), ""
	return func(stage string, done float64) {
		if stage != before && !bar.Moves() {
			fmt.Fprintln(out, "measuring", stage)
		}
		before = stage
		bar.Show(min(uint64(100*done), 99), "measuring "+stage)
	}, bar.Finish
}

func printKernels(w io.Writer, r *kernelbench.Result) {
	m := r.Machine
	fmt.Fprintf(w, "%s, %s, %s/%s, %s; load before: %s\n", m.CPU,
		terminal.Count(m.Cores, "core"), m.OS, m.Arch,
		m.Go, m.Load)
	t := cli.NewTable(w, "", "elements/s", "x NormFloat64")
	row := func(name string, ratio float64) {
		if ratio > 0 {
			t.AppendRow(table.Row{name, giga(ratio * r.Yardstick), fmt.Sprintf("%.1f", ratio)})
		}
	}
	row("NormFloat64 loop, math/rand/v2", 1)
	row("x += a*z, normal, generic", r.Generic)
	row("x += a*z, normal, avx2", r.AVX2)
	row("x += a*z, normal, avx512", r.AVX512)
	row("x += a*z, normal, neon", r.NEON)
	row("8 directions of ±1, generic", r.Rademacher8Generic)
	row("8 directions of ±1, avx2", r.Rademacher8AVX2)
	row("8 directions of ±1, avx512", r.Rademacher8AVX512)
	row("8 directions of ±1, neon", r.Rademacher8NEON)
	row("64 directions of rank 1, generic", r.LowRankGeneric)
	row("64 directions of rank 1, avx2", r.LowRankAVX2)
	row("64 directions of rank 1, neon", r.LowRankNEON)
	replay := fmt.Sprintf("replay of %d records, d=%d, ", r.ReplayRecords, r.ReplayDim)
	row(replay+"1 core", r.Replay1/r.Yardstick)
	row(replay+terminal.Count(r.Workers, "core"), r.ReplayN/r.Yardstick)
	t.AppendSeparator()
	t.AppendRows([]table.Row{
		{"in use", r.Backend},
		{"replay, all cores over one", fmt.Sprintf("%.2f", r.ReplaySpeedup)},
		{fmt.Sprintf("memory, read and written, 1 and %d cores", r.Workers),
			fmt.Sprintf("%.1f and %.1f GB/s", r.Bandwidth/1e9, r.BandwidthN/1e9)},
		{"share of it that x += a*z reaches", percents(r.BandwidthShare, r.BandwidthShareN)},
		{"replay, as a share of one pass of memory per direction",
			percents(r.ReplayShare, r.ReplayShareN)},
		{"seconds", fmt.Sprintf("%.1f", r.Seconds)},
	})
	t.Render()
}

func percents(one, all float64) string {
	return fmt.Sprintf("%.0f %% and %.0f %%", 100*one, 100*all)
}

func giga(v float64) string { return fmt.Sprintf("%.2f G", v/1e9) }
