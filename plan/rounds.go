package plan

import "math"

// RoundsFields is section rounds: which devices take part in a round, and when it closes.
type RoundsFields struct {
	Roster      Roster
	Cohort      uint8   // 1: the second phase of a round asks the devices of its first, see Draw
	Close       Close   // whether a round counts the first Target to answer, or all
	Members     uint32  // round 1 waits until this many devices have joined
	Target      uint32  // contributors at which a round closes early
	OverSample  float32 // devices asked = Target * OverSample, in thousandths
	Quorum      uint32  // contributors without which a round does not close
	Deadline    uint32  // longest time of an attempt, in milliseconds
	MaxAttempts uint32  // attempts at a record before the run pauses
	Reannounce  uint32  // milliseconds from an announcement to the next; longer in a long attempt
	Shards      uint32  // number of announcement subjects

	// AnnounceBudget is how many bytes of older records an announcement may carry beside the last
	// record, within MaxFrame. Only announcements of a later attempt, of a restarted coordinator, or
	// while no round is open carry older records on this budget.
	AnnounceBudget uint32

	DigestEvery uint32 // devices report digests after n = 0 mod DigestEvery; 0: never
}

var roundsSection = Section{
	Name: "rounds",
	Doc:  "which devices take part in a round, and when it closes",
	fields: []Field{
		{Number: 27, Name: "roster", names: rosterNames,
			Doc: "listed devices with slots, or open to all"},
		{Number: 28, Name: "members", Changeable: true, min: 1, max: MaxMembers, Unit: "devices",
			Doc: "devices that round 1 waits for"},
		{Number: 29, Name: "target", Changeable: true, min: 1, max: MaxMembers, Unit: "devices",
			Doc: "contributors that close a round"},
		{Number: 30, Name: "over_sample", Changeable: true, min: 1, max: 100, Unit: "target",
			Doc: "devices asked, as a factor on target"},
		{Number: 31, Name: "quorum", Changeable: true, min: 1, max: MaxMembers, Unit: "devices",
			Doc: "contributors that a round needs"},
		{Number: 32, Name: "deadline", Changeable: true, min: 1, max: anyUint32, Unit: "ms",
			Doc: "longest time of an attempt, in milliseconds"},
		{Number: 33, Name: "max_attempts", Changeable: true, min: 1, max: 1000, Unit: "attempts",
			Doc: "attempts of a record before the run pauses"},
		{Number: 34, Name: "reannounce", Changeable: true, min: 1, max: anyUint32, Unit: "ms",
			Doc: "milliseconds between announcements"},
		{Number: 35, Name: "announce_budget", Changeable: true, max: 32 << 10,
			Unit: "bytes", Usual: "512",
			Doc: "bytes of earlier records in a repeated announcement"},
		{Number: 36, Name: "shards", min: 1, max: 1296, Unit: "subjects",
			Doc: "number of announcement subjects"},
		{Number: 41, Name: "digest_every", Changeable: true, max: anyUint32,
			Unit: "records", Usual: "64",
			Doc: "records between digests, 0 for never"},
		{Number: 110, Name: "cohort", names: []string{"record", "round"},
			Doc: "for how long the devices of a draw are asked"},
		{Number: 126, Name: "close", Changeable: true, names: closeNames,
			Doc: "whether target answers close a round, or it counts all until its deadline"},
	}}

// Sampled returns how many of the members the first attempt at a record asks: Target times
// OverSample, rounded up; OverSample counts in thousandths. Each later attempt asks twice as many
// devices.
func (p *Plan) Sampled(members uint32) uint32 {
	return uint32(min(p.Asked(), uint64(members)))
}

// Asked returns Target times OverSample, rounded up. The factor is first rounded to thousandths:
// 1.2 is not a float32, yet 10 devices at 1.2 must be 12.
func (p *Plan) Asked() uint64 {
	thousandths := uint64(math.Round(1000 * float64(max(p.OverSample, 1))))
	return (uint64(p.Target)*thousandths + 999) / 1000
}

// Counted returns how many contributions a record has room for, if its size grows with them: those
// that close a round, or those of all devices that the first attempt asks.
func (p *Plan) Counted() uint32 {
	if p.Close == CloseAtDeadline {
		return uint32(min(p.Asked(), MaxMembers))
	}
	return p.Target
}
