package plan

// EvaluationFields is section evaluation: which metrics devices measure on their own data, how
// often, and by which of them the run's best model is known.
type EvaluationFields struct {
	EvalEvery uint32   // evaluate after records n = 0 mod EvalEvery; 0: never
	EvalCount uint32   // devices that evaluate
	Metrics   []string // what an evaluation returns, in order

	// Best is one of Metrics, or [TrainingLoss]: the run keeps in mind after which record its value
	// was best. Empty: none. No replica reads the fields of the best model.
	Best     string
	BestWhen BestWhen
	MinDelta float32 // a value is better only by more than this
}

var evaluationSection = Section{
	Name: "evaluation",
	Doc:  "which metrics devices measure, how often, and which says what model is the best",
	fields: []Field{
		{Number: 38, Name: "eval_every", Changeable: true, max: anyUint32,
			Unit: "records", Usual: "10",
			Doc: "records between evaluations, 0 for never"},
		{Number: 39, Name: "eval_count", Changeable: true, max: MaxMembers,
			Unit: "devices", Usual: "1",
			Doc: "devices that evaluate"},
		{Number: 40, Name: "metrics", Usual: `["accuracy"]`,
			Doc: "what an evaluation returns, in order"},
		{Number: 116, Name: "best", Changeable: true, Usual: "loss",
			Doc: "metric that says which record has the best model; loss, if metrics has none, is the " +
				"training loss"},
		{Number: 117, Name: "best_when", Changeable: true, names: bestWhenNames,
			Doc: "which values of best are better; auto: the lowest of a loss, an error or a " +
				"perplexity, by its name, the highest of others"},
		{Number: 120, Name: "min_delta", Changeable: true, max: 1e30, Usual: "0.001",
			Doc: "a value of best is better only by more than this"},
	}}
