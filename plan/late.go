package plan

// LateFields is section late: how contributions count that come after their record closed.
type LateFields struct {
	Late  uint32 // rounds for which late contributions still count; 0: never
	Async uint8  // 1: contributions of any age count towards Target and Quorum
}

var lateSection = Section{
	Name: "late",
	Doc:  "how much work counts that comes after its round",
	fields: []Field{
		{Number: 82, Name: "late", Changeable: true, max: MaxLate, Unit: "rounds", Usual: "4",
			Doc: "rounds for which a late contribution counts, 0 for none"},
		{Number: 86, Name: "async", Changeable: true, names: []string{"off", "on"},
			Doc: "whether contributions of any age close a round"},
	}}
