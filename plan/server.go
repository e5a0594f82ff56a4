package plan

// ServerFields is section server: how replicas apply the mean move of a round to the model.
type ServerFields struct {
	ServerRule    ServerRule
	ServerStep    float32 // alpha
	ServerBeta1   float32
	ServerBeta2   float32
	ServerEpsilon float32 // added under the root
	ServerV0      float32 // initial value of v and its maximum
	ServerDecay   float32 // lambda of ServerNormalized
	LossUnit      float32 // with ServerNormalized: unit of the slopes that devices send; 0: 1

	Covariance Covariance // of ServerCMA
	Restarts   uint32     // of ServerCMA: restarts, each with twice the candidates; 0: none
}

var serverSection = Section{
	Name: "server",
	Doc:  "how the model takes the mean move of a round",
	fields: []Field{
		{Number: 54, Name: "server_rule", names: serverRuleNames,
			Doc: "how the model takes a round's mean move"},
		{Number: 55, Name: "server_step", Changeable: true, max: 1e18, Usual: "0.02",
			Doc: "alpha, step size of the server rule"},
		{Number: 56, Name: "server_beta1", Changeable: true, max: 1, Usual: "0.9",
			Doc: "decay factor of the first moment"},
		{Number: 57, Name: "server_beta2", Changeable: true, max: 1, Usual: "0.99",
			Doc: "decay factor of the second moment"},
		{Number: 58, Name: "server_epsilon", Changeable: true, max: 1e6, Usual: "1e-8",
			Doc: "added to the second moment, under the root"},
		{Number: 59, Name: "server_v0", max: 1e6, Usual: "1e-5",
			Doc: "initial value of the second moment"},
		{Number: 90, Name: "server_decay", Changeable: true, max: 1e6, Usual: "0.03",
			Doc: "lambda, decay of x by lambda times step, with server_rule=normalized"},
		{Number: 114, Name: "loss_unit", Changeable: true, max: 1e30, Unit: "losses", Usual: "1000",
			Doc: "unit of the slopes that devices send, with server_rule=normalized; 0 for 1"},
		{Number: 122, Name: "covariance", names: covarianceNames,
			Doc: "what server_rule=cma learns of the loss: full: a d by d matrix; limited: a few vectors"},
		{Number: 124, Name: "restarts", Changeable: true, max: 10, Unit: "restarts", Usual: "3",
			Doc: "how often server_rule=cma may begin again, each time with twice the candidates"},
	}}
