// Package logtest holds the tests that every log of a run must pass: runlog.Memory, a
// filelog.Log, a jetlog.Log on real servers. It is for implementers of [runlog.Log]:
//
//	func TestLog(t *testing.T) {
//		logtest.Run(t, logtest.Config{Place: func(t testing.TB, run string) logtest.Opener {
//			dir := t.TempDir()
//			return func(context.Context) (runlog.Log, error) { return mylog.Open(dir, run) }
//		}})
//	}
//
// It cannot cut the power: whether a log survives that, its own tests must show.
package logtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/runlog"
)

// patience bounds each test.
const patience = 2 * time.Minute

// An Opener opens the log of a place. If one log has stored something there, logs that are opened
// later hold it too. The tests close every log that they open.
type Opener func(context.Context) (runlog.Log, error)

// A Config says which log to test, and which features it lacks.
type Config struct {
	// Place makes an empty place for the log of a run of that name.
	Place func(t testing.TB, run string) Opener
	// NoObjects: the log stores no vectors, so runs with transport=dense are refused.
	NoObjects bool
	// NoEpochs: the log is no [runlog.Epochs], so the epochs of a copy may go back.
	NoEpochs bool
	// NoDecisions: the log is no [runlog.Decider], so a pause ends with its coordinator.
	NoDecisions bool
	// Parallel runs the tests at the same time, for logs that mostly wait.
	Parallel bool
}

// A check is one test. It panics with a failure.
type check struct {
	name string
	run  func(*scene)
}

// checks are all tests.
var checks = []check{
	{"Empty", checkEmpty},
	{"Append", checkAppend},
	{"Order", checkOrder},
	{"Conflict", checkConflict},
	{"Repetition", checkRepetition},
	{"Ownership", checkOwnership},
	{"Long", checkLong},
	{"Read", checkRead},
	{"ReadEnds", checkReadEnds},
	{"ReadWhileAppending", checkReadWhileAppending},
	{"Members", checkMembers},
	{"Retire", checkRetire},
	{"Reopen", checkReopen},
	{"Begin", checkBegin},
	{"BeginAfterRecords", checkBeginAfterRecords},
	{"TakeOver", checkTakeOver},
}

var objectChecks = []check{
	{"Objects", checkObjects},
	{"ObjectOwnership", checkObjectOwnership},
	{"KeepObjects", checkKeepObjects},
	{"ReopenObjects", checkReopenObjects},
}

var epochChecks = []check{
	{"LastEpoch", checkLastEpoch},
	{"PassEpochs", checkPassEpochs},
}

var decisionChecks = []check{
	{"Decisions", checkDecisions},
	{"DecisionsTakeOver", checkDecisionsTakeOver},
}

// checks returns the tests of the log.
func (c *Config) checks() []check {
	all := checks[:len(checks):len(checks)]
	if !c.NoObjects {
		all = append(all, objectChecks...)
	}
	if !c.NoEpochs {
		all = append(all, epochChecks...)
	}
	if !c.NoDecisions {
		all = append(all, decisionChecks...)
	}
	return all
}

// Run tests a log, each subtest in a place of its own.
func Run(t *testing.T, cfg Config) {
	for i, c := range cfg.checks() {
		t.Run(c.name, func(t *testing.T) {
			if cfg.Parallel {
				t.Parallel()
			}
			run := fmt.Sprintf("logtest-%d", i)
			if err := c.try(t.Context(), run, cfg.Place(t, run)); err != nil {
				t.Error(err)
			}
		})
	}
}
