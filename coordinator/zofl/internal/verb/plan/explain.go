package plan

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// long prints all that zofl plan knows of a plan: what each section does, its fields, the equations
// of its preset, and what a round costs.
func (f *planFlags) long(out io.Writer, p *plan.Plan, in cost.Input) error {
	if err := tell(out, p, in); err != nil {
		return err
	}
	for _, info := range preset.List() {
		if info.Name == p.Preset {
			fmt.Fprintf(out, "%s: %s\n\n%s\n\n", info.Name, info.Source, info.Notes)
		}
	}
	price(out, p, in)
	account(out, cost.AccountOf(p, in))
	f.explainNoise(out, p)
	explainSecure(out, p, in)
	if f.begins != nil {
		f.begins.explain(out)
	}
	fmt.Fprintf(out, "\nzofl %s\n", version.String())
	return nil
}

// lateRounds is how many rounds a late device has missed in the computed cost of its catch-up.
const lateRounds = 1000

// price prints the cost of a round, and the cost of late rounds for a device that joins after them.
func price(out io.Writer, p *plan.Plan, in cost.Input) {
	c, late, process := cost.Of(p, in), cost.Late(p, in, lateRounds), cost.ProcessOf(p)
	t := cli.NewPlainTable(out, "a round costs", "")
	t.AppendRow(table.Row{"loss evaluations of a device", c.Queries})
	once := cost.Surveys(p)
	t.AppendIf(once > 0, "further loss evaluations, once in a run", once)
	t.AppendRows(phases(p, c))
	t.AppendRows([]table.Row{
		{"scalars that a device sends", c.Scalars},
		{"records, each with an announcement", c.Records},
		{"bytes sent, at the device's socket", c.Up.Socket},
		{"bytes received, at the device's socket", c.Down.Socket},
	})
	for _, s := range slow(p, c) {
		t.AppendRow(table.Row{"more bytes received, where a record takes " +
			(time.Duration(s.Seconds) * time.Second).String(), s.Received})
	}
	if c.Directions > 0 {
		t.AppendRows([]table.Row{
			{"directions that each replica makes to replay it", c.Directions},
			{"their time on one core like this", replayTime(p, c.Directions)},
		})
	}
	t.AppendRows([]table.Row{
		{"bytes added to the log, at most", c.Record},
		{fmt.Sprintf("bytes of %d rounds to a device that joins late", lateRounds), late.Socket},
		{"bytes of the longest frame to a device, at most", valid.ReceivedBytes(p)},
		{"of these earlier records, which a device may ask for", p.AnnounceBudget},
	})
	t.AppendIf(p.Transport != plan.DenseVectors, "bytes of the longest frame from a device, at most",
		valid.SentBytes(p))
	t.AppendRows([]table.Row{
		{"bytes of a model, for comparison", 4 * p.Dim},
		{"vectors of dim elements, in each replica", c.Vectors},
		{"more such vectors, on a device that works", c.Local},
		{"memory of a device's process in Go, flat loss", cli.Size(process.Flat)},
		{"memory of a device's process in Go, streaming loss", cli.Size(process.Streaming)},
		{"memory of zofl exec, beside its program", cli.Size(process.Exec)},
		{"memory of the coordinator for a round", cli.Size(c.Coordinator)},
	})
	if c := sharedCost(p, in); c != nil {
		t.AppendRows([]table.Row{
			{"where all share directions: bytes received", c.Down.Socket},
			{"where all share directions: bytes of the log", c.Record},
			{"where all share directions: directions of a replica", c.Directions},
		})
	}
	t.AppendIf(p.Transport == plan.DenseVectors, "vectors stored beside the log, at most",
		cli.Size(storedVectors(p)))
	t.Render()
}

// A slowRound is the additional traffic that a device receives if some device needs the given
// seconds for a record.
type slowRound struct {
	Seconds  uint64 `json:"seconds"`
	Repeats  int    `json:"repeats"`
	Received int    `json:"received"` // bytes at the device's socket
}

// slow computes the additional traffic if devices need 10, 60 or 600 seconds for a record. slow
// leaves out times beyond the plan's deadline, and times without additional traffic.
func slow(p *plan.Plan, c cost.Round) (rounds []slowRound) {
	for _, seconds := range []uint64{10, 60, 600} {
		if n := cost.Repeats(p, 1000*seconds); n > 0 && 1000*seconds <= uint64(p.Deadline) {
			rounds = append(rounds, slowRound{seconds, n, n * c.Repeat.Socket})
		}
	}
	return rounds
}

// sharedCost returns the cost of a round with groups=auto in which all devices share directions.
// sharedCost returns nil for other plans. A round costs more if each device has its own directions.
func sharedCost(p *plan.Plan, in cost.Input) *cost.Round {
	if p.Groups != grouping.Auto {
		return nil
	}
	one := *p
	one.Groups, one.GroupSize = grouping.Random, p.Sampled(plan.MaxMembers)
	c := cost.Of(&one, in)
	return &c
}

// account prints the bytes of a round by purpose.
func account(out io.Writer, a cost.Account) {
	fmt.Fprintln(out)
	t := cli.NewPlainTable(out, "bytes of a round, at the socket", "sent", "received",
		"least received")
	for _, row := range []struct {
		name string
		part func(*cost.Parts) int
	}{
		{"scalars, or elements of vectors", func(p *cost.Parts) int { return p.Values }},
		{"which device each is from", func(p *cost.Parts) int { return p.Who }},
		{"weights", func(p *cost.Parts) int { return p.Weights }},
		{"step sizes and factors", func(p *cost.Parts) int { return p.Steps }},
		{"chain of the log", func(p *cost.Parts) int { return p.Chain }},
		{"other fields of messages", func(p *cost.Parts) int { return p.Fields }},
		{"other fields of records", func(p *cost.Parts) int { return p.Record }},
		{"lines of NATS", func(p *cost.Parts) int { return p.Framing }},
		{"all", func(p *cost.Parts) int { return p.Sum() }},
	} {
		t.AppendRow(table.Row{row.name, row.part(&a.Up), row.part(&a.Down), row.part(&a.Floor)})
	}
	t.Render()
}

// phases returns the work of a device in each phase of a round, if a round has two phases or the
// device sends a vector.
func phases(p *plan.Plan, c cost.Round) (rows []table.Row) {
	list := []uint8{1, 2}
	if p.Phases() == 1 {
		list = []uint8{0}
	}
	for _, phase := range list {
		name, text := "", ""
		if phase > 0 {
			name = fmt.Sprintf("phase %d: ", phase)
			text = terminal.Count(p.PhaseQueries(phase, c.Perturbations), "evaluation")
		}
		if elements := p.Object(phase); elements > 0 {
			name += "vector up and down"
			text += ", " + terminal.Count(elements, "element") + ", " + cli.Size(4*elements)
		} else {
			name += "scalars"
		}
		if text != "" {
			rows = append(rows, table.Row{name, strings.TrimPrefix(text, ", ")})
		}
	}
	return rows
}

// storedVectors returns the bytes of the vectors that a log keeps.
func storedVectors(p *plan.Plan) uint64 {
	records := uint64(max(int(p.DenseKeep), p.Phases()))
	if p.Phases() == 1 {
		return 4 * records * p.Object(0)
	}
	return 4 * (records/2*p.Object(1) + (records+1)/2*max(p.Object(1), p.Object(2)))
}
