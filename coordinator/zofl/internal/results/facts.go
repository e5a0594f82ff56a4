package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/internal/chart"
)

// A Fact is a line of a table.
type Fact struct{ Name, Value string }

// Outcome says how a run ended or, if it goes on, how far it is.
func (r *Run) Outcome() []Fact {
	loss := r.Loss()
	facts := []Fact{{"state", r.State()}, {"rounds", fmt.Sprint(r.Rounds)}}
	if len(loss.At) > 0 {
		facts = append(facts, Fact{"loss", fmt.Sprintf("%s, from %s", chart.Number(loss.Last()),
			chart.Number(loss.At[0].Value))},
			Fact{"smoothed loss", chart.Number(loss.Smooth().Last())})
		if text := history.Worse(&r.Plan, loss.At[0].Value, loss.settled()); text != "" &&
			r.Ended != "" {
			facts = append(facts, Fact{"worse", text})
		}
	}
	for _, name := range r.Metrics() {
		said := name
		if name == "loss" { // not that of training
			said = "evaluated loss"
		}
		facts = append(facts, Fact{said, chart.Number(r.Metric(name).Last())})
	}
	if r.Best != nil {
		facts = append(facts, Fact{"best model", r.Best.String() + "; zofl export --best writes it"})
	}
	return append(facts, Fact{"record", fmt.Sprint(r.Records)})
}

// Lead says in sentences what the run did.
func (r *Run) Lead() string {
	p := &r.Plan
	text := fmt.Sprintf("The run trained %s by %s. ", terminal.Count(p.Dim, "parameter"),
		cmp.Or(p.Preset, "a method of its own"))
	rounds := terminal.Count(r.Rounds, "round")
	switch why, known := endings[r.Ended]; {
	case r.Ended == "":
		text += "It has not ended: this page has its first " + rounds + ". "
	case known:
		text += fmt.Sprintf("It ended after %s, because %s. ", rounds, why)
	default:
		text += fmt.Sprintf("It ended after %s (%s). ", rounds, r.Ended)
	}
	if store, ok := strings.CutPrefix(r.Flags, "--store "); ok {
		return text + "Its log is " + store + "."
	}
	return text + "It was read over the broker."
}

// endings say why a run ended.
var endings = map[string]string{"rounds": "the plan has no more", "metric": "its metric came to " +
	"the value that the plan names", "requested": "a person ended it",
	"patience": "its model no longer became better"}

// settled is the mean of the last tenth of the values.
func (s Series) settled() float64 {
	last, sum := s.At[len(s.At)-max(len(s.At)/10, 1):], 0.0
	for _, at := range last {
		sum += at.Value
	}
	return sum / float64(len(last))
}

// Proof is what a person compares with another copy of the log.
func (r *Run) Proof() []Fact { return []Fact{{"hash of the last record", r.Hash}} }

// Costs are the costs of a device that took part in every round.
func (r *Run) Costs() []Fact {
	up, down, before := uint64(0), uint64(0), uint64(0)
	var seconds []float64
	epsilon := 0.0
	for i := range r.Points {
		p := &r.Points[i]
		rounds := uint64(1)
		if p.Round > before {
			rounds = p.Round - before
		}
		before = p.Round
		up, down = up+rounds*p.BytesUp, down+rounds*p.BytesDown
		if p.IsRound() {
			seconds = append(seconds, p.Seconds)
		}
		epsilon = max(epsilon, p.Epsilon)
	}
	last := r.Points[len(r.Points)-1]
	facts := []Fact{
		{"losses evaluated", fmt.Sprint(last.Queries)},
		{"sent", cli.Size(up)}, {"received", cli.Size(down)},
		{"model, for comparison", cli.Size(4 * r.Plan.Dim)},
		{"from the first point to the last", span(last.Time.Sub(r.Points[0].Time))},
	}
	if len(seconds) > 0 {
		slices.Sort(seconds)
		facts = append(facts, Fact{"a round, median", took(seconds[len(seconds)/2])},
			Fact{"a round, longest", took(seconds[len(seconds)-1])})
	}
	if epsilon > 0 {
		facts = append(facts, Fact{"epsilon spent", fmt.Sprintf("%.3g, delta %g", epsilon,
			r.Now.DPDelta)})
	}
	return facts
}

// took returns the duration of a round as text. A history has durations in whole milliseconds.
func took(seconds float64) string {
	if seconds == 0 {
		return "less than 0.001 s"
	}
	return chart.Number(seconds) + " s"
}

func span(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// Participation says how many devices took part in the rounds.
func (r *Run) Participation() []Fact {
	var rounds, contributors, asked, late, declines uint64
	again := 0
	rejected := map[string]uint64{}
	for i := range r.Points {
		p := &r.Points[i]
		if !p.IsRound() {
			continue
		}
		rounds++
		contributors += uint64(p.Contributors)
		asked += uint64(p.Asked)
		late += uint64(p.Late)
		declines += uint64(p.Declines)
		if p.Attempt > 0 {
			again++
		}
		for cause, n := range p.Rejected {
			rejected[cause] += n
		}
	}
	if rounds == 0 {
		return nil
	}
	mean := func(n uint64) string { return chart.Number(float64(n) / float64(rounds)) }
	facts := []Fact{{"contributors of a round, mean", mean(contributors)}}
	if asked > 0 {
		facts = append(facts, Fact{"devices asked, mean", mean(asked)})
	}
	facts = append(facts, Fact{"contributions to earlier rounds", fmt.Sprint(late)},
		Fact{"declines", fmt.Sprint(declines)}, Fact{"rounds that took several attempts",
			fmt.Sprint(again)})
	for _, of := range []struct {
		kind history.Kind
		name string
	}{{history.InVain, "worked in vain, see events"}, {history.Suspect, "suspects, see events"}} {
		if ids := r.marked(of.kind); len(ids) > 0 {
			facts = append(facts, Fact{of.name, strings.Join(ids, ", ")})
		}
	}
	for _, cause := range slices.Sorted(maps.Keys(rejected)) {
		facts = append(facts, Fact{"messages dropped: " + cause, fmt.Sprint(rejected[cause])})
	}
	return facts
}

// marked lists the members that have marks of a kind.
func (r *Run) marked(kind history.Kind) (ids []string) {
	for i := range r.Marks {
		if m := &r.Marks[i]; m.Kind == kind && !slices.Contains(ids, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// Events are the marks of the run's history, as texts.
func (r *Run) Events() (events []Event) {
	for _, m := range r.Marks {
		text := strings.TrimLeft(strings.TrimPrefix(m.Words(), string(m.Kind)), ",: ")
		events = append(events, Event{m.Time.UTC().Format(time.DateTime), m.Round, string(m.Kind), text})
	}
	return events
}

// An Event is one event of a run.
type Event struct {
	Time  string
	Round uint64
	Kind  string
	Text  string
}
