package results

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"runtime"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/icon"
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

//go:embed pages
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"number": chart.Number, "short": Short, "icon": icon.URL,
	"spent": func(v float64) string { return fmt.Sprintf("%.0f", v) },
}).ParseFS(files, "pages/*.html"))

// A page is the part that the pages of reports and comparisons share. Each page is a single file.
// Its Content-Security-Policy lets it load nothing, and apply only its own style.
type page struct {
	Title       string
	Style       template.CSS
	Policy      string
	Figures     []figure
	Environment []Fact
}

func newPage(title string, figures []figure) (*page, error) {
	style, err := files.ReadFile("pages/style.css")
	if err != nil {
		return nil, err
	}
	p := &page{Title: title, Figures: figures, Environment: environment()}
	p.Style = template.CSS("\n" + string(style) + chart.Style)
	sum := sha256.Sum256([]byte(p.Style))
	p.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; " +
		"style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	return p, nil
}

// environment describes the program and the machine that made a page. A log does not say which
// programs the devices ran.
func environment() []Fact {
	return []Fact{{"zofl", version.String()}, {"Go", runtime.Version()},
		{"system", runtime.GOOS + "/" + runtime.GOARCH},
		{"processors", fmt.Sprint(runtime.NumCPU())}}
}

// Report writes a page about a run.
func (r *Run) Report(out io.Writer) error {
	figures, err := r.figures()
	if err != nil {
		return err
	}
	p, err := newPage("Run "+r.Plan.Run, figures)
	if err != nil {
		return err
	}
	values, err := planfile.Values(&r.Plan)
	if err != nil {
		return err
	}
	again, err := r.commands()
	if err != nil {
		return err
	}
	return pages.ExecuteTemplate(out, "report.html", struct {
		*page
		Run    *Run
		Values []planfile.Value
		Again  string
	}{p, r, values, again})
}

// commands are the commands with which a person can repeat a run: they begin with the run's plan.
func (r *Run) commands() (string, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode((*planfile.Plan)(&r.Plan)); err != nil {
		return "", err
	}
	name := r.Plan.Run
	lines := []string{
		"cat > " + name + ".json <<'END'", strings.TrimSuffix(text.String(), "\n"), "END",
		"zofl serve " + name + ".json --store " + name + "-again.log",
	}
	if r.Plan.Private() {
		lines = append([]string{"# Devices need the run key that the plan was made with."}, lines...)
	}
	if r.Plan.Initial == plan.Given {
		lines = append([]string{"# Devices need the model that the plan names by its digest."}, lines...)
	}
	return strings.Join(lines, "\n"), nil
}

// Page writes a page about a comparison.
func (c *Comparison) Page(out io.Writer) error {
	figures, err := c.figures()
	if err != nil {
		return err
	}
	p, err := newPage(c.A.From+" and "+c.B.From, figures)
	if err != nil {
		return err
	}
	differences, err := c.Differences()
	if err != nil {
		return err
	}
	return pages.ExecuteTemplate(out, "compare.html", struct {
		*page
		Comparison  *Comparison
		Differences []Difference
		Outcomes    []Pair
	}{p, c, differences, c.Outcomes()})
}

// A Pair is one fact with its values for two runs.
type Pair struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Outcomes say how the runs ended, and what they cost.
func (c *Comparison) Outcomes() (pairs []Pair) {
	index := map[string]int{}
	for i, facts := range [][]Fact{append(c.A.Outcome(), c.A.Costs()...),
		append(c.B.Outcome(), c.B.Costs()...)} {
		for _, f := range facts {
			at, there := index[f.Name]
			if !there {
				at = len(pairs)
				index[f.Name], pairs = at, append(pairs, Pair{Name: f.Name})
			}
			if i == 0 {
				pairs[at].A = f.Value
			} else {
				pairs[at].B = f.Value
			}
		}
	}
	return pairs
}
