package plan

// LocalFields is section local: how a local step moves the iterate, and how far.
type LocalFields struct {
	Rule        Rule
	Beta        float32 // momentum factor in [0, 1)
	Beta2       float32 // for LocalAdam
	Epsilon     float32 // for LocalAdam, added to the root
	WeightDecay float32 // v += decay * x before the rule; 0: none
	Prox        float32 // gamma: v += gamma (x_k - x_0); 0: none
	Control     Control
	StepSize    float32 // eta
	StepAuto    uint8   // 1: with StepSize = 0 the devices find the step size after a few rounds
	StepAfter   uint32  // for StepAuto: rounds before the devices look for the step size; 0: 5
	StepDecay   StepDecay
	Floor       float32 // fraction of the step size that remains at the end of Cosine
}

var localSection = Section{
	Name: "local",
	Doc:  "how a local step moves the iterate, and by how much",
	fields: []Field{
		{Number: 15, Name: "rule", names: ruleNames,
			Doc: "how a local step uses its estimate"},
		{Number: 16, Name: "beta", Changeable: true, max: 1, Usual: "0.9",
			Doc: "momentum factor"},
		{Number: 17, Name: "weight_decay", Changeable: true, max: 1e6, Usual: "0.001",
			Doc: "weight decay, added to the estimate"},
		{Number: 18, Name: "step", goName: "StepSize",
			Changeable: true, min: 1e-18, max: 1e18, Usual: "0.001",
			Doc: "step size of the plan"},
		{Number: 19, Name: "step_decay", Changeable: true, names: stepDecayNames,
			Doc: "schedule of the step size"},
		{Number: 52, Name: "prox", Changeable: true, max: 1e6, Usual: "1",
			Doc: "gamma, pull to the round's first point"},
		{Number: 53, Name: "control", names: controlNames,
			Doc: "control variates"},
		{Number: 65, Name: "beta2", Changeable: true, max: 1, Usual: "0.999",
			Doc: "decay factor of adam's second moment"},
		{Number: 66, Name: "epsilon", Changeable: true, max: 1e6, Usual: "1e-8",
			Doc: "added to the root of adam's second moment"},
		{Number: 89, Name: "floor", Changeable: true, max: 1,
			Unit: "share of the step", Usual: "0.1",
			Doc: "share of the step that step_decay=cosine leaves at the end"},
		{Number: 91, Name: "step_auto", names: []string{"off", "on"},
			Doc: "whether devices find step where it is 0, with server_rule=normalized or cma"},
		{Number: 129, Name: "step_after", max: 1000, Unit: "rounds", Usual: "1",
			Doc: "rounds without a move, before devices look for step; 0 for 5"},
	}}
