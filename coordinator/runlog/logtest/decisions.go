package logtest

import (
	"reflect"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// decides makes the log store decisions. If the log is no Decider, decides ends the check.
func (s *scene) decides(log runlog.Log, d runlog.Decisions) {
	decider, ok := log.(runlog.Decider)
	if !ok {
		s.failf("%T is no runlog.Decider: set Config.NoDecisions, if it is not meant to be", log)
	}
	s.ok(decider.Decide(s.ctx, d), "Decide")
	s.decided(log, d)
}

func (s *scene) decided(log runlog.Log, want runlog.Decisions) {
	got, err := runlog.DecisionsOf(s.ctx, log)
	s.ok(err, "Decisions")
	if !reflect.DeepEqual(got, want) {
		s.failf("Decisions() = %+v, want %+v", got, want)
	}
}

// decisions returns examples of decisions, which a check stores one after the other.
func decisions() []runlog.Decisions {
	claim := runlog.Claim{N: 80, Tip: wire.Tip{1, 2, 0xff}}
	return []runlog.Decisions{
		{Pause: &runlog.Pause{Reason: "the step is \"wrong\"\n", By: "ann@desk"}},
		{Planned: &runlog.Pause{Reason: "look at it", After: 100}},
		{Pause: &runlog.Pause{Reason: "device a has record 80", Claim: &claim}},
		{Accepted: []runlog.Claim{{N: 12}, claim}},
		{},
	}
}

// Decisions survive when the log is closed, and each Decide replaces the earlier decisions.
func checkDecisions(s *scene) {
	log, epoch := s.led()
	s.decided(log, runlog.Decisions{})
	for _, d := range decisions() {
		s.decides(log, d)
		s.append(log, epoch, 1)
		s.decided(log, d)
		s.close(log)
		log = s.log()
		s.decided(log, d)
		epoch = s.begin(log)
		s.decided(log, d)
	}
}

// A coordinator that takes over gets the decisions that the coordinator before it stored.
func checkDecisionsTakeOver(s *scene) {
	log, _ := s.led()
	all := decisions()
	s.decides(log, all[0])
	s.close(log)
	log, _ = s.led()
	s.decided(log, all[0])
	s.decides(log, all[1])
	s.begin(log)
	s.decided(log, all[1])
	s.decides(log, all[2])
}
