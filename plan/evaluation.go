package plan

// EvaluationFields is section evaluation: which metrics devices measure on their own data, and how
// often.
type EvaluationFields struct {
	EvalEvery uint32   // evaluate after records n = 0 mod EvalEvery; 0: never
	EvalCount uint32   // devices that evaluate
	Metrics   []string // what an evaluation returns, in order
}

var evaluationSection = Section{
	Name: "evaluation",
	Doc:  "which metrics devices measure, and how often",
	fields: []Field{
		{Number: 38, Name: "eval_every", Changeable: true, max: anyUint32,
			Unit: "records", Usual: "10",
			Doc: "records between evaluations, 0 for never"},
		{Number: 39, Name: "eval_count", Changeable: true, max: MaxMembers,
			Unit: "devices", Usual: "1",
			Doc: "devices that evaluate"},
		{Number: 40, Name: "metrics", Usual: `["accuracy"]`,
			Doc: "what an evaluation returns, in order"},
	}}
