package plan

// RobustFields is section robust: how far one device can move the model, see package coordinator.
// Only the coordinator uses these fields, because a record holds the result.
type RobustFields struct {
	// Bound is the largest norm of a contribution, in median norms. With Secure it is that of the mean
	// of contributions, in median norms of earlier means. 0: no limit.
	Bound      float32
	ClaimBound float32 // most claimed samples, in median claims; 0: no limit
	Trust      uint32  // rounds over which a device must agree with the other devices; 0: no need

	// Roots are ids of devices that the operator trusts: with Trust, other devices must agree with
	// these devices. Empty: none.
	Roots []string

	// Liars is how many contributors of a round may lie. The coordinator replaces each contribution by
	// the mean of all but that many, those nearest to it. 0: it replaces none.
	Liars uint32
}

// UsualBound is the Bound of new plans. With any Bound, the coordinator also leaves out a
// contribution that is longer than UsualBound and Bound usual ones, and limits the others by the
// number of the round's contributors: one of n devices counts as n/8 usual ones at most, but as 1
// where n is small, and as 1.5 from 6 devices on. A plan with Roots has no such limit, because the
// roots judge contributions.
const UsualBound = 8

var robustSection = Section{
	Name: "robust",
	Doc:  "how far one device can move the model",
	fields: []Field{
		{Number: 102, Name: "bound", Changeable: true, max: 1e6, Unit: "medians", Usual: "8",
			Doc: "longest contribution, or mean with secure=sum, in medians: a longer one is cut " +
				"to it; few devices allow less, and beyond 8 a contribution does not count; 0 for any"},
		{Number: 103, Name: "claim_bound", Changeable: true, max: 1e6, Unit: "medians", Usual: "8",
			Doc: "most samples of a device that count, in medians; 0 for all"},
		{Number: 104, Name: "trust", Changeable: true, max: 1000, Unit: "rounds", Usual: "50",
			Doc: "rounds over which a device must agree with the others, 0 for never"},
		{Number: 109, Name: "roots", Changeable: true, Usual: `["device-1"]`,
			Doc: "devices that the operator vouches for, with which the others must agree"},
		{Number: 115, Name: "liars", Changeable: true, max: 500, Unit: "devices", Usual: "4",
			Doc: "contributors of a round that may lie: each contribution is mixed with its nearest, " +
				"all but so many; 0 for none"},
	}}
