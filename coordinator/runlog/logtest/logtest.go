// Package logtest has the tests that every log of a run must pass: a runlog.Memory, a filelog.Log,
// and a jetlog.Log on real servers. The package is for those who implement [runlog.Log]:
//
//	func TestLog(t *testing.T) {
//		logtest.Run(t, logtest.Config{Place: func(t testing.TB, run string) logtest.Opener {
//			dir := t.TempDir()
//			return func(context.Context) (runlog.Log, error) { return mylog.Open(dir, run) }
//		}})
//	}
//
// Package logtest cannot cut the power. So the log's own tests must show that the log survives a
// power cut.
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

// An Opener opens the log of a place. A log that is opened later must hold everything that earlier
// logs stored in the same place. The tests close every log that they open.
type Opener func(context.Context) (runlog.Log, error)

// A Config says which log to test, and which features it lacks.
type Config struct {
	// Place makes an empty place for the log of a run of that name.
	Place func(t testing.TB, run string) Opener
	// NoObjects: the log stores no vectors, so it cannot hold a run with transport=dense.
	NoObjects bool
	// NoEpochs: the log is no [runlog.Epochs], so a copy may repeat epochs of its source.
	NoEpochs bool
	// NoDecisions: the log is no [runlog.Decider], so a pause ends with its coordinator.
	NoDecisions bool
	// NoHandovers: the log is no [runlog.Handovers], so a coordinator that takes over may find other
	// steps.
	NoHandovers bool
	// Parallel makes Run run the tests at the same time. Parallel tests save time with logs that
	// mostly wait.
	Parallel bool
}

// A check is one test. The function run panics with a failure if the log does not pass.
type check struct {
	name string
	run  func(*scene)
}

// checks are the tests for all logs.
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

var handoverChecks = []check{
	{"Handovers", checkHandovers},
	{"HandoversTakeOver", checkHandoversTakeOver},
}

// checks returns the tests that the configured log must pass.
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
	if !c.NoHandovers {
		all = append(all, handoverChecks...)
	}
	return all
}

// Run tests a log. Each subtest has its own place.
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
