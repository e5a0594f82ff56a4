package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/internal/chart"
)

// An Experiment is one experiment of a paper.
type Experiment struct {
	ID    string
	Title string   // one line
	Paper string   // which paper, and where in it
	Long  string   // rough duration without Short, on two cores
	Takes []string // fields of Env beside those that all take, as options of the command
	Do    func(*Trial) error
}

// Run runs the experiment. If Env.Screen is set, Run marks the report as screened.
func (x Experiment) Run(ctx context.Context, e *Env) (*Report, error) {
	t := NewTrial(ctx, e, x.ID)
	t.Report.Short = e.Short
	err := x.Do(t)
	if e.Screen {
		t.Report.MarkScreened()
	}
	return t.Report, err
}

// A Trial is a running experiment with its environment and its report.
type Trial struct {
	Ctx    context.Context
	Env    *Env
	Report *Report // what is known so far
}

// NewTrial returns a trial with an empty report.
func NewTrial(ctx context.Context, e *Env, id string) *Trial {
	return &Trial{ctx, e, &Report{ID: id}}
}

// An Env is the environment of an experiment.
type Env struct {
	Data  string // directory of the data sets, see [Env.MNIST]
	Dir   string // where logs are kept, to continue after a stop; empty: nowhere
	Short bool   // at most five minutes on two cores
	Seeds int    // runs of each curve; 0: the experiment's default
	// Presets and Tasks are the names of the presets and tasks to run; none means all, or the few of a
	// short experiment.
	Presets, Tasks []string
	Rounds         uint64 // most of a run; 0: the experiment's default
	// Arms are the methods to compare. An element is the name of an arm, or "NAME BASE FIELD=VALUE
	// ..." for a new arm that has the fields of the arm or preset BASE, and the given fields. No
	// elements mean all arms.
	Arms []string
	// Devices and Liars are the sizes of a fleet in which devices lie, and Lies the names of the lies
	// to run; 0 and none mean those of the experiment.
	Devices, Liars int
	Lies           []string
	// Screen lets all clients give gradients instead of losses. A screened experiment takes a small
	// part of the time, and serves to compare many plans quickly. See [Report].Screened.
	Screen bool
	// The experiment calls Logf, unless nil, with lines of progress.
	Logf func(format string, args ...any)
	// Generated replaces the images of every data set by this many generated digits, for tests; 0:
	// no replacement.
	Generated int
}

// Say reports a line of progress.
func (e *Env) Say(format string, args ...any) {
	if e.Logf != nil {
		e.Logf(format, args...)
	}
}

// SeedsOr returns the number of runs of each curve: the number asked for, 1 for a short
// experiment, or usual.
func (e *Env) SeedsOr(usual int) int {
	switch {
	case e.Seeds > 0:
		return e.Seeds
	case e.Short:
		return 1
	}
	return usual
}

// RoundsOr returns the rounds of a run: the number asked for, short for a short experiment, or
// usual.
func (e *Env) RoundsOr(usual, short uint64) uint64 {
	switch {
	case e.Rounds > 0:
		return e.Rounds
	case e.Short:
		return short
	}
	return usual
}

// Few returns the names that a short experiment uses by default. For an experiment that is not
// short, Few returns nil, which means all names.
func (e *Env) Few(names ...string) []string {
	if e.Short {
		return names
	}
	return nil
}

// A Report is the result of an experiment.
type Report struct {
	ID     string
	Claims []Claim
	Table  Table // the curves, or other results
	// Summary is a table for pages. Without columns, the report has no summary.
	Summary Table
	Figure  chart.Chart   // of the curves
	More    []chart.Chart // of the same curves, for other figures of a paper
	// Screened says that clients computed gradients instead of differences of losses, so that only
	// surveys made queries. The numbers of queries in a screened report are the numbers that
	// differences would have needed.
	Screened bool
	Short    bool // of Env
	lacks    string
}

// Pick returns the items of all whose names are in asked, in the order of all. If asked is empty,
// Pick returns the items whose names are in usual, or all items if usual is empty too. Pick
// returns the errors of [Chosen].
func Pick[T any](option string, all []T, nameOf func(T) string, asked, usual []string) (kept []T,
	err error) {
	names := Each(all, nameOf)
	if len(asked) == 0 {
		asked = usual
	}
	if asked, err = Chosen(option, asked, names); err != nil {
		return nil, err
	}
	for i, name := range names {
		if slices.Contains(asked, name) {
			kept = append(kept, all[i])
		}
	}
	return kept, nil
}

// Chosen returns the names in asked, or all if asked is empty. If a name is not among all, the
// error contains the option of the command.
func Chosen(option string, asked, all []string) ([]string, error) {
	if len(asked) == 0 {
		return all, nil
	}
	for _, name := range asked {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("--%s %s: choose among %s", option, name, strings.Join(all, ", "))
		}
	}
	return asked, nil
}
