// Package compact defines the short form of an announcement that opens a round and carries only the
// record before that round. Every device reads such an announcement in every round.
//
// The record itself does not change. The log, catch-up replies and the hash chain hold the record
// as package wire encodes it. The short form leaves out what its reader knows: the hash of the
// record before, and fields that the announcement repeats. The reader rebuilds the record and
// compares the record's hash with the tip in the frame. So a replica applies only the record that
// is in the log.
//
// The coordinator sends an announcement that has no short form as [wire.Announcement].
package compact

import "github.com/zofl/zofl/plan"

// For reports whether the coordinator of a run with this plan sends the short form. The coordinator
// sends the short form for plans with a choice that only readers of the short form understand: a
// precision below half, groups that share directions, or a server rule after sign. Every other run
// sends the long form only.
func For(p *plan.Plan) bool {
	return p.Precision > plan.Half || p.Sharing > plan.PerClient || p.ServerRule > plan.ServerSign
}
