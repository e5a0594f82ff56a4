package plan

// StopFields is section stop: when the run ends, or pauses by itself.
type StopFields struct {
	Rounds     uint64 // 0: no limit
	StopMetric string // one of Metrics; empty: none
	StopWhen   StopWhen
	StopValue  float32
	Patience   uint32 // evaluations without a better value of Best that end the run; 0: any number

	// Diverge pauses the run when the median loss of the devices has risen too far: when the smoothed
	// median has risen by more than Diverge times the first loss, or the median itself, in two rounds
	// in a row, by more than four times that (with one or two devices, 20 times). If the first loss is
	// small, the spread of the losses counts in its place. 0: never.
	Diverge float32
}

var stopSection = Section{
	Name: "stop",
	Doc:  "when the run ends, or pauses by itself",
	fields: []Field{
		{Number: 42, Name: "rounds", Changeable: true, max: MaxRound, Unit: "rounds", Usual: "1000",
			Doc: "number of rounds of the run, 0 for no limit"},
		{Number: 43, Name: "stop_metric", Changeable: true, Usual: "accuracy",
			Doc: "metric that ends the run"},
		{Number: 44, Name: "stop_when", Changeable: true, names: stopWhenNames,
			Doc: "side of stop_value"},
		{Number: 45, Name: "stop_value", Changeable: true, Usual: "0.9",
			Doc: "value of stop_metric that ends the run"},
		{Number: 121, Name: "patience", Changeable: true, max: 1e6, Unit: "evaluations",
			Usual: "10",
			Doc:   "evaluations without a better value of best that end the run, 0 for any number"},
		{Number: 46, Name: "diverge", Changeable: true, max: 1e6, Unit: "first losses", Usual: "1",
			Doc: "rise of the loss, in first losses, that pauses the run; 0 for none"},
	}}
