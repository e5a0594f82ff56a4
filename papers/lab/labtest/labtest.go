// Package labtest runs experiments in tests, on generated digits.
package labtest

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"strconv"
	"testing"

	"github.com/zofl/zofl/papers/lab"
)

// Run runs an experiment and logs its progress in the test. Run checks that the report has the
// experiment's ID and a table with rows.
func Run(t *testing.T, x lab.Experiment, e *lab.Env) *lab.Report {
	t.Helper()
	e.Logf = t.Logf
	r, err := x.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != x.ID {
		t.Errorf("the report is of %q", r.ID)
	}
	var b bytes.Buffer
	if err := r.Table.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	if rows, err := csv.NewReader(&b).ReadAll(); err != nil || len(rows) < 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	return r
}

// AllHold checks that a report has the given number of claims, and that all hold.
func AllHold(t *testing.T, r *lab.Report, claims int) {
	t.Helper()
	if len(r.Claims) != claims {
		t.Errorf("%d claims, want %d", len(r.Claims), claims)
	}
	for _, c := range r.Claims {
		if !c.Holds {
			t.Errorf("does not hold: %s: %s", c.Claim, c.Figures)
		}
	}
}

// Untold checks that a report says of so many claims that the run is too short for them.
func Untold(t *testing.T, r *lab.Report, claims int) {
	t.Helper()
	n := 0
	for _, c := range r.Claims {
		if c.TooShort != "" {
			n++
		}
	}
	if n != claims {
		t.Errorf("the run is too short for %d claims, want %d: %+v", n, claims, r.Claims)
	}
}

// Stopped runs the short form of an experiment on generated digits, and cancels the experiment at
// its first line of progress. Stopped returns the report of the results so far.
func Stopped(t *testing.T, x lab.Experiment, generated int) *lab.Report {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := x.Run(ctx, &lab.Env{Generated: generated, Short: true,
		Logf: func(string, ...any) { cancel() }})
	if !errors.Is(err, context.Canceled) || r == nil {
		t.Fatalf("got %v and %v, want a report and canceled", r, err)
	}
	return r
}

// Count returns the number in a cell of a table.
func Count(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
