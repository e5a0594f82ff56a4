package wire

// PlanLate is section late: what counts of contributions to records that were closed without them.
type PlanLate struct {
	Late       uint32    // rounds for which they still count; 0: never
	Staleness  Staleness // their discount
	StalenessA float32   // a, for StalePolynomial and StaleHinge
	StalenessB uint32    // b, for StaleHinge
	Async      uint8     // 1: contributions of any age count towards Target and Quorum
}

var lateSection = Section{
	Name: "late",
	Doc:  "what counts of work that comes after its round",
	fields: []Field{
		{Number: 82, Name: "late", Changeable: true, max: MaxLate,
			Doc: "rounds for which a late contribution counts, 0 for none",
			at:  func(p *Plan) any { return &p.Late }},
		{Number: 83, Name: "staleness", Changeable: true, names: stalenessNames,
			Doc: "discount of a late contribution by its age",
			at:  func(p *Plan) any { return (*uint8)(&p.Staleness) }},
		{Number: 84, Name: "staleness_a", Changeable: true, max: 64,
			Doc: "a of staleness=polynomial and hinge",
			at:  func(p *Plan) any { return &p.StalenessA }},
		{Number: 85, Name: "staleness_b", Changeable: true, max: MaxLate,
			Doc: "b of staleness=hinge",
			at:  func(p *Plan) any { return &p.StalenessB }},
		{Number: 86, Name: "async", Changeable: true, names: []string{"off", "on"},
			Doc: "whether contributions of any age close a round",
			at:  func(p *Plan) any { return &p.Async }},
	}}
