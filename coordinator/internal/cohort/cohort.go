// Package cohort knows the devices of a run: which devices the next record asks, which answered,
// and for which it waits. The package sends nothing: the engine asks it, and informs devices and
// operators.
package cohort

import (
	"math"

	"github.com/zofl/zofl/coordinator/internal/participation"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A Cohort holds what the coordinator needs to know about the devices of a run to make the next
// record. Times are in milliseconds.
//
// Invariants:
//  1. Pending is the number of devices that Attempt asks and for which Waits is true, on a listed
//     roster. Pending is 0 on an open roster.
//  2. Attempt is the last element of Attempts, unless no round is open.
type Cohort struct {
	Roster  presence.Roster
	Most    int // members of a listed roster
	Crowd   presence.Crowd
	Rate    ResponseRate          // of an open roster
	Sample  *participation.Sample // of an open roster
	Answers presence.Answers      // to the open record
	late    presence.Answers      // to the record before, for the rate

	log    *runlog.Position
	prev   wire.Tip      // of the log's last record but one
	groups policy.Groups // nil: the run has none
	steps  policy.Steps  // nil: the run has none

	Attempt   Attempt       // which announcements describe
	Attempts  []Attempt     // all at the open record
	kept      []wire.Cohort // which these ask before they ask others
	serial    uint32        // of the attempt, over all records of this coordinator
	Since     uint64        // when it was announced first, or its last step began
	Pending   uint32        // devices for which it waits
	Reachable uint32        // those, and contributions, when it began
	Reasons   [8]uint32     // why devices declined it, by reason; 0 for unknown reasons
	worked    uint64        // how long the last contribution to it took
	Before    uint64        // the same for the record before; 0: unknown, or not the first attempt
}

// New returns the cohort of a log at a position. No member has answered yet. retired are the
// members that no longer take part. The policies p help to decide which devices an attempt asks.
func New(log *runlog.Position, members, retired []string, p *policy.Set) (k Cohort, err error) {
	listed := log.Plan.Roster == plan.ListedRoster
	k.Most, k.log, k.groups, k.steps = plan.MaxMembers, log, p.Groups, p.Steps
	if k.Roster, err = presence.NewRoster(!listed, members); err != nil {
		return k, err
	}
	k.Answers, k.late = presence.NewAnswers(listed), presence.NewAnswers(listed)
	k.Answers.Grow(len(members))
	k.Crowd.Grow(len(k.Roster.IDs), false)
	k.Rate.Population = uint64(log.Plan.Members)
	if !listed {
		k.Sample = participation.New()
	}
	for _, id := range retired {
		if m, ok := k.Member(id); ok && listed {
			k.Retire(m, 0)
		}
	}
	return k, nil
}

// Member returns the member with an id. ok is false if there is none, or if it is retired.
func (k *Cohort) Member(id string) (m presence.Device, ok bool) {
	m, ok = k.Roster.Find(id)
	return m, ok && (k.Roster.Open || !k.Crowd.Members[m.Slot].Retired)
}

// Moved notes the log's next record.
func (k *Cohort) Moved(_ []byte, r wire.Record) { k.prev, k.kept = r.Prev.Tip(), k.kept[:0] }

// Timely says whether a message is about the open record or about the record before.
func (k *Cohort) Timely(n uint64, tip wire.Tip) bool {
	return n == k.log.N+1 && tip == k.log.Hash.Tip() || n == k.log.N && tip == k.prev
}

// Joined notes that the log has stored the next members, and returns their ids.
func (k *Cohort) Joined(count int) (ids []string) {
	ids = k.Roster.Store(count)
	k.Answers.Grow(k.Roster.Stored)
	k.Crowd.Grow(k.Roster.Stored, true)
	for slot := k.Roster.Stored - count; k.log.Rounds > 0 && slot < k.Roster.Stored; slot++ {
		k.Crowd.Doubt(uint32(slot))
	}
	return ids
}

// Retire notes that a member no longer takes part.
func (k *Cohort) Retire(m presence.Device, now uint64) {
	k.Crowd.Members[m.Slot].Retired = true
	k.Crowd.Place(m.Slot, now)
	k.Roster.Retired++
}

// Contributed says whether a member has contributed to the open record.
func (k *Cohort) Contributed(m presence.Device) bool {
	return k.Answers.Of(m)&presence.Contributed != 0
}

// Repeats says whether the coordinator already has a member's answer to record n.
func (k *Cohort) Repeats(m presence.Device, n uint64) bool {
	switch n {
	case k.Answers.N:
		return k.Answers.Of(m) != 0
	case k.late.N: // a member may have joined since
		return (k.Roster.Open || int(m.Slot) < len(k.late.Slots)) && k.late.Of(m) != 0
	}
	return !k.Roster.Open && k.Crowd.Members[m.Slot].Record == n
}

// Asked returns how many members the attempt asks. Asked returns 0 on an open roster, where the
// number is unknown.
func (k *Cohort) Asked() uint32 {
	if k.Roster.Open {
		return 0
	}
	return uint32(k.Attempt.Cohort.Sampled)
}

// AskedAbout returns about how many devices the attempt asks on an open roster, of those that would
// answer, or of those that have contributed if these are more: while rounds close early, the
// answers show only a part of the devices.
func (k *Cohort) AskedAbout() uint32 {
	devices := float64(max(k.Rate.Population, k.Sample.Devices()))
	share := float64(k.Attempt.Cohort.Sampled) / float64(wire.FullThreshold)
	answered := k.Answers.Contributions + k.Answers.Declines
	return max(uint32(min(math.Round(share*devices), math.MaxUint32)), answered)
}

// Participation returns how evenly devices take part.
func (k *Cohort) Participation() report.Participation {
	if k.Roster.Open {
		return k.Sample.Report()
	}
	return k.Crowd.Participation()
}

// Want is the number of answers that an attempt aims at, on an open roster.
func (k *Cohort) Want() uint64 { return uint64(k.log.Plan.Sampled(math.MaxUint32)) }

// Beyond says whether there are more answers than honest devices of an open roster could give. With
// this limit, the coordinator bounds the memory that an open roster can take.
func (k *Cohort) Beyond(answers int) bool {
	return k.Roster.Open && uint64(answers) > 4*k.Want()+1024
}

// CountLate counts an answer that came after its round closed, to estimate how many devices of an
// open roster answer.
func (k *Cohort) CountLate(m presence.Device, r *wire.Reply) {
	if !k.Roster.Open || r.N != k.log.N || r.Tip != k.prev {
		return
	}
	if k.late.Of(m) == 0 && !k.Beyond(len(k.late.IDs)) {
		k.late.Set(m, presence.Declined)
		k.Rate.Answers++
	}
}
