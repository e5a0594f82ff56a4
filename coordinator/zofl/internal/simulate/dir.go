package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/tfevents"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// The files in a directory of results.
const (
	runsFile    = "runs.csv"
	historyFile = "history.csv"
	linesFile   = "history.jsonl"
	plansDir    = "plans"
	eventsDir   = "tensorboard"
	plotEnding  = ".svg"
)

// known are the files that each directory of results has. A directory may also have plots.
var known = []string{runsFile, historyFile, linesFile, plansDir, eventsDir}

// A Dir keeps all runs in files of a directory. It is a [Sink].
type Dir struct {
	name    string
	axes    []Axis
	runs    *table
	history *table
	lines   *os.File
	events  *tfevents.Writer // of the run in progress
}

// CheckDir returns an error unless results can be stored in a directory: the directory does not
// exist, or is empty, or has the results of an earlier simulation and replace is true.
func CheckDir(name string, replace bool) error {
	entries, err := os.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if !replace {
		return fmt.Errorf("%s: %w: name a new directory, or give --force to replace the results there",
			name, fs.ErrExist)
	}
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) && filepath.Ext(e.Name()) != plotEnding {
			return fmt.Errorf("%s: %s is no result of a simulation, so nothing there is replaced: name "+
				"another directory", name, e.Name())
		}
	}
	if _, err := os.Stat(filepath.Join(name, runsFile)); err != nil {
		return fmt.Errorf("%s: %v, so nothing there is replaced: name another directory", name, err)
	}
	return nil
}

// NewDir makes the directory, which [CheckDir] allows, and the files of a simulation. metrics are
// the names that a row may have.
func NewDir(name string, axes []Axis, metrics []string) (d *Dir, err error) {
	earlier, err := filepath.Glob(filepath.Join(escaped(name), "*"+plotEnding))
	if err != nil {
		return nil, err
	}
	for _, file := range known {
		earlier = append(earlier, filepath.Join(name, file))
	}
	for _, file := range earlier {
		if err := os.RemoveAll(file); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{plansDir, eventsDir} {
		if err := os.MkdirAll(filepath.Join(name, dir), 0o755); err != nil {
			return nil, err
		}
	}
	d = &Dir{name: name, axes: axes}
	if d.runs, err = newTable(filepath.Join(name, runsFile), runColumns(axes, metrics)); err != nil {
		return nil, err
	}
	d.history, err = newTable(filepath.Join(name, historyFile), rowColumns(axes, metrics))
	if err == nil {
		d.lines, err = os.Create(filepath.Join(name, linesFile))
	}
	return d, err
}

// escaped returns a name that filepath.Glob takes literally.
func escaped(name string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(name)
}

// Begin implements [Sink].
func (d *Dir) Begin(r *Run) (err error) {
	if err := storePlan(PlanName(d.name, r), r.Plan); err != nil {
		return err
	}
	d.events, err = tfevents.Create(filepath.Join(d.name, eventsDir, r.Name), time.Now())
	return err
}

// Round implements [Sink].
func (d *Dir) Round(r *Run, row Row) error {
	line := roundLine(r, row)
	return errors.Join(json.NewEncoder(d.lines).Encode(line), d.history.write(line),
		d.events.Add(time.Now(), row.Round, scalars(row)))
}

// End implements [Sink].
func (d *Dir) End(r *Run) error {
	return errors.Join(d.runs.write(lineOf(r)), d.events.Close())
}

// Close draws the plots of the runs, and closes the files.
func (d *Dir) Close(runs []*Run) error {
	err := errors.Join(d.runs.close(), d.history.close(), d.lines.Close())
	for _, p := range plots(d.axes, runs) {
		b, drawn := p.chart.File()
		if drawn == nil {
			drawn = os.WriteFile(filepath.Join(d.name, p.name+plotEnding), b, 0o644)
		}
		err = errors.Join(err, drawn)
	}
	return err
}

// storePlan stores a plan in a file.
func storePlan(name string, p *plan.Plan) error {
	b, err := json.MarshalIndent((*planfile.Plan)(p), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
}
