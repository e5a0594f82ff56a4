package logs

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// namesOf returns the sorted names of all metrics.
func namesOf(points []history.Point) []string {
	names := map[string]bool{}
	for i := range points {
		if e := points[i].Evaluation; e != nil {
			for name := range e.Metrics {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// A column is one of a CSV file.
type column struct {
	name string
	of   func(p *history.Point) string
}

// columns are those of every history, in their order. Metrics follow.
var columns = []column{
	{"record", func(p *history.Point) string { return whole(p.N) }},
	{"round", func(p *history.Point) string { return whole(p.Round) }},
	{"time", func(p *history.Point) string { return p.Time.Format(time.RFC3339Nano) }},
	{"phase", func(p *history.Point) string { return whole(uint64(p.Phase)) }},
	{"loss", func(p *history.Point) string { return number(p.Loss) }},
	{"seconds", func(p *history.Point) string { return number(&p.Seconds) }},
	{"attempt", func(p *history.Point) string { return whole(uint64(p.Attempt)) }},
	{"contributors", func(p *history.Point) string { return whole(uint64(p.Contributors)) }},
	{"asked", func(p *history.Point) string { return whole(uint64(p.Asked)) }},
	{"late", func(p *history.Point) string { return whole(uint64(p.Late)) }},
	{"declines", func(p *history.Point) string { return whole(uint64(p.Declines)) }},
	{"rejected", func(p *history.Point) string { return whole(rejected(p)) }},
	{"bytes_up", func(p *history.Point) string { return whole(p.BytesUp) }},
	{"bytes_down", func(p *history.Point) string { return whole(p.BytesDown) }},
	{"queries", func(p *history.Point) string { return whole(p.Queries) }},
	{"step", func(p *history.Point) string { return single(p.Step) }},
	{"perturbations", func(p *history.Point) string { return whole(uint64(p.Perturbations)) }},
	{"epsilon", func(p *history.Point) string {
		if p.Epsilon == 0 {
			return ""
		}
		return number(&p.Epsilon)
	}},
	{"evaluated_devices", func(p *history.Point) string {
		if p.Evaluation == nil {
			return ""
		}
		return whole(uint64(p.Evaluation.Devices))
	}},
	{"evaluated_samples", func(p *history.Point) string {
		if p.Evaluation == nil {
			return ""
		}
		return whole(p.Evaluation.Samples)
	}},
}

// printCSV prints points. A cell is empty where there is no number.
func printCSV(out io.Writer, points []history.Point) error {
	w := csv.NewWriter(out)
	names := namesOf(points)
	line := make([]string, 0, len(columns)+len(names))
	for _, c := range columns {
		line = append(line, c.name)
	}
	for _, name := range names {
		line = append(line, "metrics."+name)
	}
	err := w.Write(line)
	for i := range points {
		line = line[:0]
		for _, c := range columns {
			line = append(line, c.of(&points[i]))
		}
		for _, name := range names {
			line = append(line, metric(&points[i], name))
		}
		err = errors.Join(err, w.Write(line))
	}
	w.Flush()
	return errors.Join(err, w.Error())
}

// printHistory prints a table of points, with marks where they happened.
func printHistory(out io.Writer, points []history.Point, marks []history.Mark) {
	names := namesOf(points)
	header := []any{"record", "round", "time (UTC)", "loss", "seconds", "devices", "late", "declines",
		"rejected"}
	for _, name := range names {
		header = append(header, name)
	}
	t := cli.NewTable(out, append(header, "note")...)
	until := func(before uint64) {
		for ; len(marks) > 0 && marks[0].N < before; marks = marks[1:] {
			row := slices.Repeat(table.Row{""}, len(header)+1)
			row[0], row[1], row[2] = marks[0].N, marks[0].Round, clock(marks[0].Time)
			row[len(header)] = marks[0].Words()
			t.AppendRow(row)
		}
	}
	for i := range points {
		p := &points[i]
		until(p.N)
		row := table.Row{p.N, p.Round, clock(p.Time), short(p.Loss), short(&p.Seconds),
			fmt.Sprint(p.Contributors), p.Late, p.Declines, rejected(p)}
		if p.Asked > 0 {
			row[5] = fmt.Sprintf("%d of %d", p.Contributors, p.Asked)
		}
		for _, name := range names {
			row = append(row, "")
			if p.Evaluation != nil {
				row[len(row)-1] = short(p.Evaluation.Metrics[name])
			}
		}
		note := ""
		switch {
		case !p.IsRound():
			note = "metrics only: no round ends here"
		case p.Phase == 1:
			note = "first phase"
		}
		t.AppendRow(append(row, note))
	}
	until(1<<64 - 1)
	t.Render()
}

func clock(t time.Time) string { return t.Format(time.DateTime) }
func whole(n uint64) string    { return strconv.FormatUint(n, 10) }
func single(x float32) string  { return strconv.FormatFloat(float64(x), 'g', -1, 32) }

// number returns a number in full, or nothing.
func number(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// short returns a number with few digits, or nothing.
func short(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', 5, 64)
}

func metric(p *history.Point, name string) string {
	if p.Evaluation == nil {
		return ""
	}
	return number(p.Evaluation.Metrics[name])
}

// rejected is how many messages were rejected.
func rejected(p *history.Point) (sum uint64) {
	for _, n := range p.Rejected {
		sum += n
	}
	return sum
}
