package plan

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire/secagg"
	"github.com/zofl/zofl/wire/survey"
)

// A brief is a plan in some 12 lines, each with a word in front: what is trained, how, by whom, and
// what a round costs. The rest is in [planFlags.long].
type brief struct {
	*plan.Plan
	out  io.Writer
	in   cost.Input
	cost cost.Round
}

// line prints a line. A text that is too long for it ends with dots.
func (b *brief) line(word, text string) {
	fmt.Fprintf(b.out, "%-8s %s\n", word, cut(text, cli.TextWidth-9))
}

// cut ends a text with dots if it has more than most characters.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// short prints the plan as a brief.
func (f *planFlags) short(out io.Writer, p *plan.Plan, in cost.Input) error {
	b := &brief{p, out, in, cost.Of(p, in)}
	b.line("trains", b.trains())
	f.begins.short(b)
	b.line("method", b.method())
	if b.Distribution == plan.LowRank {
		b.line("signs", signsText(b.Plan))
	}
	if f.why != "" {
		b.line("why", f.why)
	}
	if found := b.finds(); found != "" {
		b.line("finds", found)
	}
	b.line("devices", b.devices())
	if p.EvalEvery > 0 {
		b.line("measures", fmt.Sprintf("%s after every %s, on %s", strings.Join(p.Metrics, ", "),
			terminal.Count(p.EvalEvery, "record"), terminal.Count(p.EvalCount, "device")))
	}
	if p.Best != "" {
		b.line("best", bestText(p))
	}
	b.line("ends", b.ends())
	if own, err := b.own(); err != nil {
		return err
	} else if own != "" {
		b.line("sets", own)
	}
	if text := b.hides(); text != "" {
		b.line("privacy", text)
	}
	if f.fitted != "" {
		b.line("noise", strings.TrimSpace(f.fitted))
	}
	if p.Summed() {
		b.line("secure", b.sums())
	}
	b.line("losses", b.losses())
	b.line("bytes", b.bytes())
	if b.cost.Directions > 0 {
		b.line("replay", b.replay())
	}
	b.line("seconds", b.seconds())
	b.line("memory", fmt.Sprintf("%s for the replica (%s); %s for a device's process in Go",
		cli.Size(4*p.Dim*b.cost.Vectors), terminal.Count(b.cost.Vectors, "vector"),
		cli.Size(cost.ProcessOf(p).Flat)))
	if f.write != "" {
		fmt.Fprintf(out, "Stored in %s. --explain says more.\n", f.write)
	} else {
		fmt.Fprintln(out, "--explain says more; --write FILE stores the plan.")
	}
	return nil
}

func (b *brief) trains() string {
	from := "from zeros"
	switch {
	case b.Initial == plan.Given:
		from = "from a given model"
	case randomStart(b.Plan):
		from = "from random values in " + terminal.Count(len(b.Segments), "segment")
	}
	if len(b.Boxes) > 0 {
		from += ", within boxes"
	}
	whose := ""
	if b.Private() {
		whose = "; private: only devices have it"
	}
	return fmt.Sprintf("%s of run %s, %s%s", terminal.Count(b.Dim, "parameter"), b.Run, from, whose)
}

func (b *brief) method() string {
	name := cmp.Or(b.Preset, "no preset")
	if b.Estimator == plan.Surrogate {
		return fmt.Sprintf("%s: %s by a surrogate of the last %s", name, terminal.Count(b.Steps, "step"),
			terminal.Count(b.Window, "loss"))
	}
	if b.Difference == plan.NoDifference {
		return fmt.Sprintf("%s: %s around the model, the same for all", name,
			terminal.Count(b.Perturbations, "candidate"))
	}
	whose := map[plan.Sharing]string{plan.SharedDirections: "that all share",
		plan.PerClient: "of a device's own", plan.GroupDirections: "that a group shares"}[b.Sharing]
	if b.Groups == grouping.Auto {
		whose = "of its own or shared, as devices find out"
	}
	return fmt.Sprintf("%s: %s along %s %s", name, terminal.Count(b.Steps, "step"),
		terminal.Count(b.Perturbations, "direction"), whose)
}

// finds says what the devices find at the beginning, and which rounds do not move the model.
func (b *brief) finds() string {
	mu, step := b.MuAuto > 0 && b.Mu == 0, b.StepAuto > 0 && b.StepSize == 0
	switch {
	case survey.Sigma(b.Plan):
		return "the first sigma, before round 1"
	case step && b.ServerRule == plan.ServerCMA:
		return ""
	case mu && step:
		return fmt.Sprintf("mu, then the step: the model moves from round %d on",
			survey.FirstMove(b.Plan))
	case mu:
		return "mu, before round 1"
	case step:
		return fmt.Sprintf("the step: the model moves from round %d on", survey.FirstMove(b.Plan))
	}
	return ""
}

func (b *brief) devices() string {
	text := fmt.Sprintf("round 1 waits for %d; a round asks %d, and %d must answer", b.Members,
		b.Sampled(plan.MaxMembers), b.Quorum)
	if b.Roster == plan.OpenRoster {
		text += "; open roster"
	}
	return text
}

func (b *brief) ends() string {
	text := "after " + terminal.Count(b.Rounds, "round")
	switch {
	case b.Rounds == 0 && b.ServerRule == plan.ServerCMA:
		text = "where candidates no longer differ"
	case b.Rounds == 0:
		text = "never: set rounds"
	}
	if b.StopMetric != "" {
		text += fmt.Sprintf(", or where %s is %s %g", b.StopMetric, b.StopWhen, b.StopValue)
	}
	if b.Patience > 0 {
		text += fmt.Sprintf(", or %s without a better %s", terminal.Count(b.Patience, "evaluation"),
			b.Best)
	}
	if b.Diverge > 0 {
		text += fmt.Sprintf("; pauses if the loss rises by %g times its first value", b.Diverge)
	}
	return text
}

// own lists the fields that the plan has in place of the preset's, without those of other lines.
func (b *brief) own() (string, error) {
	base, err := presetOf(b.Plan)
	if err != nil {
		return "", err
	}
	var list []string
	for _, section := range plan.Sections() {
		if section.Name == "model" {
			continue
		}
		own, err := differs(section.Name, b.Plan, base)
		if err != nil {
			return "", err
		}
		list = append(list, own...)
	}
	return strings.Join(list, ", "), nil
}

// hides says what the rounds spend of a device's privacy.
func (b *brief) hides() string {
	if device, coordinator := b.Noisy(); !device && !coordinator {
		return ""
	}
	if budget := dp.Planned(b.Plan); budget != nil {
		return fmt.Sprintf("%s spend %v", terminal.Count(b.Rounds, "round"), budget)
	}
	return "each round spends some, and the plan sets no rounds"
}

// sums says what secure=sum hides, and what it takes.
func (b *brief) sums() string {
	devices := int(b.Sampled(plan.MaxMembers))
	c, threshold := cost.Secure(b.Plan, b.in), secagg.Threshold(devices, b.Quorum)
	text := fmt.Sprintf("the coordinator learns sums only; %d of %d may leave a round",
		c.Degree+1-threshold, devices)
	if !b.Private() {
		text += "; no secret: it could cheat"
	}
	return text
}

func (b *brief) losses() string {
	data := "all of the device's data"
	if b.Batch > 0 {
		data = terminal.Count(b.Batch, "sample")
	}
	text := fmt.Sprintf("%d a round and device, over %s", b.cost.Queries, data)
	if once := cost.Surveys(b.Plan); once > 0 {
		text += fmt.Sprintf("; %d more once in the run", once)
	}
	return text
}

func (b *brief) bytes() string {
	text := fmt.Sprintf("%s up, %s down a round and device", bytes(b.cost.Up.Socket),
		bytes(b.cost.Down.Socket))
	if c := sharedCost(b.Plan, b.in); c != nil && c.Down.Socket != b.cost.Down.Socket {
		text += fmt.Sprintf(" (%s if all share)", bytes(c.Down.Socket))
	}
	return text + "; in the log " + bytes(b.cost.Record)
}

// seconds says how long a round may take, and how long a loss may take so that all fit.
func (b *brief) seconds() string {
	deadline := float64(b.Deadline) / 1000
	text := fmt.Sprintf("%.3g at most", deadline)
	if b.cost.Records > 1 {
		text = fmt.Sprintf("%.3g at most for each of %d records", deadline, b.cost.Records)
	}
	return fmt.Sprintf("%s, the deadline: a loss may take %.2g", text,
		deadline/float64(max(cost.Longest(b.Plan), 1)))
}

// randomStart says whether a plan begins at random values.
func randomStart(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Segments, func(s plan.Segment) bool {
		return s.Fill != plan.ZeroFill
	})
}
