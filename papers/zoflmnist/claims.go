package zoflmnist

import (
	"fmt"
	"math"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// levels are the accuracies of the summary.
var levels = []float64{0.80, 0.90, 0.95, 0.97}

// contributor returns the queries of a client that takes part in every round, and device returns
// the bytes on the connection of one device.
func (l *league) contributor(p *run.Point) uint64 {
	return contest.QueriesOf(p) / uint64(l.asked)
}

func (l *league) connection(p *run.Point) uint64 { return p.Bytes / uint64(l.clients) }

// claims judges each target by the arm with the highest accuracy at the target's cost. claims
// also compares the arm with the highest final accuracy with DeComFL, if DeComFL is among the
// arms.
func (x *trial) claims(l *league, entries []*contest.Entry) {
	var plain *contest.Entry
	var others []*contest.Entry
	for _, e := range entries {
		if e.Name == baseline.Name {
			plain = e
		} else {
			others = append(others, e)
		}
	}
	if len(others) == 0 {
		return
	}
	for _, t := range l.targets {
		x.target(l, t, contest.BestBy(others, contest.QueriesOf, t.queries*uint64(l.asked)), plain)
	}
	if plain != nil {
		x.needs(l, enoughQueries, entries...)
		best := contest.BestBy(others, contest.QueriesOf, math.MaxUint64)
		contest.Beats(x.Report, fmt.Sprintf("%v: %s beats DeComFL", l, best.Title), best, plain)
	}
}

// enoughQueries are the queries of a client that is always asked, a tenth of the runs of two
// splits, after which methods can be told apart.
const enoughQueries = 2_000

// needs says that the claims that follow need these queries of a client that is always asked.
func (x *trial) needs(l *league, queries uint64, entries ...*contest.Entry) {
	x.Report.Needs(contest.Budget(contest.QueriesOf, entries...)/uint64(l.asked), queries, "queries")
}

// target makes the claim about a target of an arm, with DeComFL for comparison unless that is nil.
func (x *trial) target(l *league, t target, arm, plain *contest.Entry) {
	at := t.queries * uint64(l.asked)
	figures := arm.Text(contest.QueriesOf, at) + "; " + got(arm, t.accuracy, l.contributor, "queries")
	if plain != nil {
		figures += "; " + plain.Text(contest.QueriesOf, at)
	}
	holds, needed := arm.Accuracy(contest.QueriesOf, at) >= t.accuracy, t.queries
	if holds {
		needed = 0 // it did with less
	}
	x.needs(l, needed, arm)
	x.Report.Claim(holds,
		fmt.Sprintf("%v: accuracy %.2f within %d queries of a client that is always asked", l,
			t.accuracy, t.queries), "%s", figures)
	if t.bytes == 0 {
		return
	}
	figures = arm.Title + " " + got(arm, t.accuracy, l.connection, "bytes")
	if plain != nil {
		figures += "; " + plain.Title + " " + got(plain, t.accuracy, l.connection, "bytes")
	}
	bytes := arm.Arrivals(t.accuracy, l.connection)
	x.Report.Claim(len(bytes) == len(arm.Results) && lab.Mean(bytes) <= float64(t.bytes),
		fmt.Sprintf("%v: accuracy %.2f within %d kB on a device's connection", l, t.accuracy,
			t.bytes/1000), "%s", figures)
}

// got formats the cost at which the runs reached an accuracy.
func got(e *contest.Entry, accuracy float64, of contest.Cost, unit string) string {
	values := e.Arrivals(accuracy, of)
	if len(values) == 0 {
		return "never gets there"
	}
	return fmt.Sprintf("gets there after %.0f %s (%d of %d seeds)", lab.Mean(values), unit,
		len(values), len(e.Results))
}

// summarize adds an arm's row: queries of a client that is always asked and kB on a device's
// connection until each level, as means of the runs that get there.
func (x *trial) summarize(l *league, e *contest.Entry) {
	s := &x.Report.Summary
	if s.Columns == nil {
		s.Columns = []string{"split", "method", "rounds"}
		for _, level := range levels {
			s.Columns = append(s.Columns, fmt.Sprintf("%.2f: queries; kB", level))
		}
		s.Columns = append(s.Columns, "at the end", "seconds a round")
	}
	row := []string{l.Title, e.Named(),
		fmt.Sprint(e.Results[0].Curve.Last())}
	for _, level := range levels {
		queries, bytes := e.Arrivals(level, l.contributor), e.Arrivals(level, l.connection)
		text := "never"
		if len(queries) > 0 {
			text = fmt.Sprintf("%.0f; %.0f", lab.Mean(queries), lab.Mean(bytes)/1000)
		}
		if n := len(queries); n > 0 && n < len(e.Results) {
			text += fmt.Sprintf(" (%d of %d)", n, len(e.Results))
		}
		row = append(row, text)
	}
	s.Rows = append(s.Rows, append(row, l.end(e),
		fmt.Sprintf("%.2f", e.Results.RoundTime().Seconds())))
}

// end formats the accuracies after the last round, and says which runs are not finished.
func (l *league) end(e *contest.Entry) string {
	var ended []float64
	var later []string
	for _, r := range e.Results {
		c := r.Curve
		if c.Ended != "" {
			ended = append(ended, contest.Reached(c, run.Accuracy, contest.QueriesOf, math.MaxUint64))
			continue
		}
		var p run.Point
		if points := c.Measured(); len(points) > 0 {
			p = points[len(points)-1]
		}
		later = append(later, fmt.Sprintf("seed %d goes on: %.4f after %d", c.Seed,
			c.At(run.Accuracy, p.Round), l.contributor(&p)))
	}
	if len(ended) > 0 {
		later = append([]string{lab.Spread(ended)}, later...)
	}
	return strings.Join(later, "; ")
}

// draw adds two figures: accuracy by queries and by kB, as means of the runs, and the targets.
func (x *trial) draw(l *league, entries []*contest.Entry) {
	queries := chart.Chart{Title: l.String(), X: "queries of a client that is always asked",
		Y: "test accuracy", LogX: true}
	bytes := queries
	bytes.X = "kB on a device's connection"
	for _, e := range entries {
		queries.Lines = append(queries.Lines, line(e, l.contributor, 1))
		bytes.Lines = append(bytes.Lines, line(e, l.connection, 1000))
	}
	goals, small := chart.Line{Name: "targets"}, chart.Line{Name: "targets"}
	for _, t := range l.targets {
		mark := chart.Mark{Point: chart.Point{X: float64(t.queries), Y: t.accuracy}, Title: "target"}
		goals.Marks = append(goals.Marks, mark)
		if t.bytes > 0 {
			mark.X = float64(t.bytes) / 1000
			small.Marks = append(small.Marks, mark)
		}
	}
	queries.Lines, bytes.Lines = append(queries.Lines, goals), append(bytes.Lines, small)
	if x.Report.Figure.Lines == nil {
		x.Report.Figure = queries
	} else {
		x.Report.More = append(x.Report.More, queries)
	}
	x.Report.More = append(x.Report.More, bytes)
}

// line returns the mean accuracy against the cost, after the rounds that every run measured.
func line(e *contest.Entry, of contest.Cost, unit float64) chart.Line {
	s := chart.Line{Name: e.Title}
	for _, p := range e.Results[0].Curve.Measured() {
		if values := e.Results.At(run.Accuracy, p.Round); len(values) == len(e.Results) {
			s.Add(float64(of(&p))/unit, lab.Mean(values))
		}
	}
	return s
}
