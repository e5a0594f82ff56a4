package logs

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
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

// printCSV prints points as CSV. A cell without a number is empty.
func printCSV(out io.Writer, points []history.Point) error {
	w := csv.NewWriter(out)
	names := namesOf(points)
	line := []string{"record", "round", "time", "phase"}
	for _, f := range history.Figures {
		line = append(line, f.Name)
	}
	line = append(line, "evaluated_devices", "evaluated_samples")
	for _, name := range names {
		line = append(line, "metrics."+name)
	}
	reported := history.ReportedNames(points)
	for _, name := range reported {
		for _, of := range []string{"", ".min", ".max", ".reporters"} {
			line = append(line, "reported."+name+of)
		}
	}
	err := w.Write(line)
	for i := range points {
		p := &points[i]
		line = append(line[:0], fmt.Sprint(p.N), fmt.Sprint(p.Round),
			p.Time.Format(time.RFC3339Nano), fmt.Sprint(p.Phase))
		for _, f := range history.Figures {
			line = append(line, number(f.Of(p)))
		}
		devices, samples := "", ""
		if e := p.Evaluation; e != nil {
			devices, samples = fmt.Sprint(e.Devices), fmt.Sprint(e.Samples)
		}
		line = append(line, devices, samples)
		for _, name := range names {
			cell := ""
			if v := p.Metric(name); v != nil {
				cell = number(*v)
			}
			line = append(line, cell)
		}
		for _, name := range reported {
			line = append(line, reportedCells(p, name)...)
		}
		err = errors.Join(err, w.Write(line))
	}
	w.Flush()
	return errors.Join(err, w.Error())
}

// reportedCells are the cells of a reported value: its median, least and greatest, and how many
// reported it.
func reportedCells(p *history.Point, name string) []string {
	r, has := p.Reported[name]
	if !has {
		return make([]string, 4)
	}
	return []string{number(r.Median), number(r.Min), number(r.Max), fmt.Sprint(r.Reporters)}
}

// printHistory prints a table of points. Rows for marks stand between the points.
func printHistory(out io.Writer, points []history.Point, marks []history.Mark) {
	names := namesOf(points)
	header := []any{"record", "round", "time (UTC)", "loss", "seconds", "devices", "late", "declines",
		"rejected", "too late"}
	for _, name := range names {
		header = append(header, name)
	}
	reported := history.ReportedNames(points)
	for _, name := range reported {
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
			fmt.Sprint(p.Contributors), p.Late, p.Declines, p.Dropped(), p.TooLate()}
		if p.Asked > 0 {
			row[5] = fmt.Sprintf("%d of %d", p.Contributors, p.Asked)
		}
		for _, name := range names {
			row = append(row, short(p.Metric(name)))
		}
		for _, name := range reported {
			cell := ""
			if r, has := p.Reported[name]; has {
				cell = short(&r.Median)
			}
			row = append(row, cell)
		}
		note := ""
		switch {
		case !p.IsRound():
			note = "metrics only: no round ends here"
		case p.Phase == 1:
			note = "first phase"
		}
		if p.Best {
			note = strings.TrimPrefix(note+"; the best model so far", "; ")
		}
		t.AppendRow(append(row, note))
	}
	until(1<<64 - 1)
	t.Render()
}

func clock(t time.Time) string { return t.Format(time.DateTime) }

// number writes a number with all its digits, or "" for a NaN.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return ""
	case x == math.Trunc(x) && math.Abs(x) < 1<<53:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// short returns a number with few digits, or "" if there is none.
func short(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', 5, 64)
}
