package papers

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan/preset"
)

// An untouchedRow is a preset's row of the table of untouched presets in RESULTS.md.
type untouchedRow struct {
	most                float64 // points below the best step that are few
	tasks, near, failed int
	bold                bool    // a cell is
	behind, tops        float64 // most points below the best step; the sum of the best
	from, to            float64 // shortest and longest of the best steps, as multiples
}

var (
	untouchedName = regexp.MustCompile("^\\| `([a-z0-9-]+)`[^|]*\\|")
	untouchedCell = regexp.MustCompile(
		`^([0-9.]+|diverged|paused)(?:, ([0-9.]+) at (?:x([0-9]+)(?:/([0-9]+))?|[0-9.]+))?$`)
)

// untouchedRows reads the first table of that section.
func untouchedRows(t *testing.T) map[string]*untouchedRow {
	t.Helper()
	page, err := os.ReadFile("RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Presets untouched\n")
	_, section, _ = strings.Cut(section, "\n|---")
	section, _, _ = strings.Cut(section, "\n\n")
	rows := map[string]*untouchedRow{}
	for line := range strings.SplitSeq(section, "\n") {
		name := untouchedName.FindStringSubmatch(line)
		if name == nil {
			continue
		}
		most := 3.0
		if strings.HasPrefix(name[1], "zofl") {
			most = 1.5
		}
		rows[name[1]] = untouchedRowOf(t, line, most)
	}
	return rows
}

func untouchedRowOf(t *testing.T, line string, most float64) *untouchedRow {
	t.Helper()
	r := &untouchedRow{most: most, from: math.Inf(1)}
	for _, cell := range strings.Split(strings.Trim(line, "|"), "|")[1:] {
		cell = strings.TrimSpace(cell)
		m := untouchedCell.FindStringSubmatch(strings.Trim(cell, "*"))
		if m == nil {
			if cell != "" {
				t.Errorf("cannot read %q of %s", cell, line)
			}
			continue
		}
		r.add(t, cell, m)
	}
	return r
}

// add adds a cell of the table, whose parsed parts are m, to the row's counts.
func (r *untouchedRow) add(t *testing.T, cell string, m []string) {
	t.Helper()
	number := func(text string, other float64) float64 {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v
		}
		return other
	}
	own, times := number(m[1], 0), number(m[3], 1)/number(m[4], 1)
	top := number(m[2], own)
	r.tasks++
	r.tops += top
	near := top-own <= r.most
	bold := strings.HasPrefix(cell, "**")
	if r.bold = r.bold || bold; bold == near {
		t.Errorf("%q is bold: %v", cell, bold)
	}
	switch _, err := strconv.ParseFloat(m[1], 64); {
	case err != nil:
		r.failed++
	case near:
		r.near++
	default:
		r.behind = max(r.behind, top-own)
	}
	if top > 0 { // of steps that all diverged none is the best
		r.from, r.to = min(r.from, times), max(r.to, times)
	}
}

// top returns the mean of the best accuracies.
func (r *untouchedRow) top() float64 { return r.tops / float64(r.tasks) }

// timesText formats a multiple. The best step may be beyond the grid's first and last ones.
func timesText(v float64) string {
	switch {
	case v == 256:
		return "256 or more"
	case v == 1.0/256:
		return "1/256 or less"
	case v < 1:
		return fmt.Sprint("1/", 1/v)
	}
	return fmt.Sprint(v)
}

// lines returns the lines that the notes of a preset with this row must contain.
func (r *untouchedRow) lines() []string {
	if r.tasks == 1 {
		return r.only()
	}
	const near = "With its own step this preset came within 3 points of the best of nine steps on "
	list := []string{fmt.Sprintf("%s%d of %d small tasks", near, r.near, r.tasks)}
	if r.near == 0 {
		list[0] = fmt.Sprintf("%snone of %d small tasks", near, r.tasks)
	}
	if r.failed > 0 {
		list = append(list, fmt.Sprintf("diverged on %d", r.failed))
	}
	if r.behind > 0 {
		list = append(list, fmt.Sprintf("up to %.1f points below", r.behind))
	}
	if r.from == r.to {
		return append(list, fmt.Sprintf("were %s times as long", timesText(r.to)))
	}
	return append(list, fmt.Sprintf("were %s to %s times as long", timesText(r.from),
		timesText(r.to)))
}

// only returns the lines for a row with a single task.
func (r *untouchedRow) only() []string {
	list := []string{"on one small task of classification.",
		fmt.Sprintf("The best step was %s times as long", timesText(r.to))}
	switch {
	case r.failed > 0:
		return append(list, "this preset diverged")
	case r.near > 0:
		return append(list, "came within 3 points of the best of nine steps on")
	}
	return append(list, fmt.Sprintf("ended %.1f points below the best", r.behind))
}

// TestDefaultsNotes checks the notes of presets against RESULTS.md. If a preset's own step size
// has a much lower accuracy than the best step size, the notes must say so, with the figures and
// the reason. If all step sizes of a preset end far below another preset without changes, the
// notes must say that the preset learned with none of them.
func TestDefaultsNotes(t *testing.T) {
	rows := untouchedRows(t)
	if len(rows) < 4 || rows["zofl"] == nil {
		t.Fatalf("%d rows", len(rows))
	}
	for _, info := range preset.List() {
		r, notes := rows[info.Name], strings.Join(strings.Fields(info.Notes), " ")
		if info.Name == "zofl" || info.Name == "zofl-shared" || r == nil {
			if strings.Contains(notes, "of nine steps") {
				t.Errorf("%s: the results have no row for its notes", info.Name)
			}
			continue
		}
		want := r.lines()
		if r.top() < rows["zofl"].top()/2 {
			want = []string{fmt.Sprintf("On %d small tasks of classification this preset learned "+
				"nothing in 300 rounds with any of nine steps", r.tasks)}
		}
		_, told, _ := strings.Cut(notes, " of nine steps")
		if _, why, _ := strings.Cut(told, " times as long. "); r.bold && why == "" {
			t.Errorf("%s: its notes do not say why its step misses: %s", info.Name, told)
		}
		for _, part := range want {
			if !strings.Contains(notes, part) {
				t.Errorf("%s: no %q in its notes: %s", info.Name, part, told)
			}
		}
	}
}
