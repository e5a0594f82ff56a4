// Package compact has the short form of an announcement that opens a round and brings the record
// before it, and nothing else: the frame that every device of a run reads in every round.
//
// The record itself does not change. The log, catch-up replies and the hash chain have it as
// package wire encodes it. A lean frame leaves out what its reader knows: the hash of the record
// before, which the reader's own state has, and what the announcement says anyway. The reader puts
// the record together again, and compares its hash with the tip that the frame carries. So a record
// reaches a state only as the log has it.
//
// A frame that has no lean form is sent as [wire.Announcement].
package compact

import "github.com/zofl/zofl/plan"

// For reports whether a coordinator sends lean frames in a run of the plan. They are for plans
// with a choice that no reader understands which does not know lean frames: a precision below
// half, groups that share directions, or the server rule after sign. Every other run has the
// frames that it always had.
func For(p *plan.Plan) bool {
	return p.Precision > plan.Half || p.Sharing > plan.PerClient || p.ServerRule > plan.ServerSign
}
