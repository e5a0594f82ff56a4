package lab

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"math"
	"os"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/livetune"
	"github.com/zofl/zofl/fleet/tune"
)

// stepStages are the stages that try steps.
var stepStages = []string{"bracket", "refine", livetune.Stage}

// A plotMark is a trial, or a value of the loss, at a place of a plot in pixels.
type plotMark struct {
	X, Y         float64
	Label, Title string
}

// svg has the losses by step: a line for each stage, a dashed one for the loss at first, and a
// cross on top for a step that diverged, was dropped, or ended far above.
var svg = template.Must(template.New("plot").Parse(`<svg xmlns="http://www.w3.org/2000/svg" ` +
	`width="720" height="440" font-family="sans-serif" font-size="12">
<rect width="720" height="440" fill="white"/>
<text x="360" y="30" text-anchor="middle">{{.Title}}</text>
{{range .Losses}}<text x="76" y="{{.Y}}" text-anchor="end">{{.Label}}</text>
{{end}}{{with .Start}}<path d="M80 {{.Y}}H660" stroke="#d62728" stroke-dasharray="4"/>
<text x="664" y="{{.Y}}">{{.Label}}</text>
{{end}}{{range $stage, $line := .Lines}}<polyline fill="none" stroke="#1f77b4" ` +
	`points="{{range $line}}{{.X}},{{.Y}} {{end}}"/>
{{with index $line 0}}<text x="{{.X}}" y="{{.Y}}" dx="8" dy="-8">{{$stage}}</text>
{{end}}{{range $line}}<circle cx="{{.X}}" cy="{{.Y}}" r="4" fill="#1f77b4">` +
	`<title>{{.Title}}</title></circle>
<text x="{{.X}}" y="425" text-anchor="middle">{{.Label}}</text>
{{end}}{{end}}{{range .Failed}}<path d="M{{.X}} {{.Y}}m-4 -4l8 8m0 -8l-8 8" stroke="#d62728">` +
	`<title>{{.Title}}</title></path>
<text x="{{.X}}" y="425" text-anchor="middle">{{.Label}}</text>
{{end}}</svg>
`))

// checkNew returns an error if a file of a flag exists, and is not meant to be replaced.
func checkNew(flag, name string, replace bool) error {
	if name == "" {
		return nil
	}
	if err := cli.CheckDirectory(flag, name); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err != nil || replace {
		return nil
	}
	return cli.Usage(fmt.Errorf("%s: %s: %w: name a new file, or give --force to replace it", flag,
		name, os.ErrExist))
}

// storePlot stores the plot of what was tried, if it is wanted and there is something to draw.
func (f *tuneFlags) storePlot(r *tune.Result) error {
	if f.plot == "" || math.IsNaN(r.Start) {
		return nil
	}
	b, err := plotTrials(r)
	if err == nil {
		err = os.WriteFile(f.plot, b, 0o644)
	}
	return err
}

// plotTrials returns the plot of a result. The axis of steps is logarithmic.
func plotTrials(r *tune.Result) ([]byte, error) {
	trials := slices.DeleteFunc(slices.Clone(r.Trials), func(t tune.Trial) bool {
		return !slices.Contains(stepStages, t.Stage) || !(t.Step > 0)
	})
	slices.SortStableFunc(trials, func(a, b tune.Trial) int { return cmp.Compare(a.Step, b.Step) })
	bottom := r.Start
	for _, t := range trials {
		if t.Loss < bottom {
			bottom = t.Loss
		}
	}
	height := cmp.Or(1.5*(r.Start-bottom), 1) // what is far above says no more
	y := func(loss float64) float64 { return math.Round(400 - 340*(loss-bottom)/height) }
	lines, failed, span := map[string][]plotMark{}, []plotMark{}, 1.0
	if len(trials) > 1 {
		span = cmp.Or(math.Log(float64(trials[len(trials)-1].Step/trials[0].Step)), 1)
	}
	for _, t := range trials {
		m := plotMark{math.Round(100 + 540*math.Log(float64(t.Step/trials[0].Step))/span), y(t.Loss),
			fmt.Sprintf("%.3g", t.Step), fmt.Sprintf("%s: %s after %d rounds", t.Stage, outcome(t),
				t.Rounds)}
		if t.Loss-bottom <= height {
			lines[t.Stage] = append(lines[t.Stage], m)
		} else {
			m.Y = 60
			failed = append(failed, m)
		}
	}
	var losses []plotMark
	for i := range 6 {
		loss := bottom + height*float64(i)/5
		losses = append(losses, plotMark{Y: y(loss), Label: fmt.Sprintf("%.4g", loss)})
	}
	var out bytes.Buffer
	err := svg.Execute(&out, map[string]any{"Title": "Loss at the end of a trial, by " + r.Field,
		"Losses": losses, "Lines": lines, "Failed": failed,
		"Start": plotMark{Y: y(r.Start), Label: "at first"}})
	return out.Bytes(), err
}
