package plan

import (
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/valid"
)

// A description is a plan and its cost for programs.
type description struct {
	Plan *planfile.Plan `json:"plan"`
	Cost cost.Round     `json:"cost"`
	// Process is the memory of the whole process of a device.
	Process cost.Process `json:"process"`
	// Surveys counts the loss evaluations of a device that a run asks for only once, at its
	// beginning.
	Surveys uint64 `json:"surveys,omitempty"`
	// Parts has the bytes that a device sends and receives, by purpose.
	Parts cost.Account `json:"parts"`
	// Frames has the bytes of the longest frames, at most.
	Frames longest `json:"frames"`
	// Late is the cost of 1,000 rounds for a device that joins after them.
	Late cost.Traffic `json:"late"`
	// Slow has the additional traffic of records for which devices need long.
	Slow []slowRound `json:"slow,omitempty"`
	// Shared is the cost of a round with groups=auto where all devices share directions.
	Shared *cost.Round `json:"shared,omitempty"`
	// Why says why the plan has its preset, if the author named none.
	Why string `json:"why,omitempty"`
	// Note lists the values that differ from the preset because of other fields.
	Note string `json:"note,omitempty"`
	// Warnings say what the plan may lack, and what its step may do.
	Warnings []string `json:"warnings,omitempty"`
	// Privacy is the privacy that all rounds together spend.
	Privacy *dp.Budget `json:"privacy,omitempty"`
	// Version is the version of this program.
	Version string `json:"version"`
	// Signs counts the random signs of a direction of distribution=lowrank.
	Signs uint64 `json:"signs,omitempty"`
	// Begins is the file that the run begins with.
	Begins *beginning `json:"begins,omitempty"`
	// Liars says what --liars sets, costs and does not stop.
	Liars string `json:"liars,omitempty"`
}

func (f *planFlags) description(p *plan.Plan, in cost.Input) *description {
	round := cost.Of(p, in)
	return &description{
		Plan: (*planfile.Plan)(p), Cost: round, Process: cost.ProcessOf(p), Surveys: cost.Surveys(p),
		Parts:  cost.AccountOf(p, in),
		Frames: longest{valid.ReceivedBytes(p), valid.SentBytes(p)},
		Late:   cost.Late(p, in, lateRounds), Slow: slow(p, round), Shared: sharedCost(p, in),
		Why: f.why, Note: f.note, Warnings: warnings(p), Privacy: dp.Planned(p),
		Version: version.String(), Signs: signsOf(p), Begins: f.begins, Liars: f.against(p),
	}
}

// longest has bounds on the bytes of the frames that a device receives and sends.
type longest struct {
	Received uint64 `json:"received"`
	Sent     uint64 `json:"sent"`
}
