package plancheck

// guardReasons are of plans that limit what one device can do.
var guardReasons = []reason{
	{
		field: "bound",
		what:  "it is below the median",
		why:   "half of all honest contributions would be cut",
		do:    "set bound=4, or bound=0 for none",
	},
	{
		field: "claim_bound",
		what:  "it is below the median",
		why:   "half of all honest claims would be cut",
		do:    "set claim_bound=4, or claim_bound=0 for none",
	},
	{
		field: "bound",
		what:  "transport=dense sends no scalars",
		why:   "the elements of a vector have no length in common; max_scalar bounds each",
		do:    "set bound=0",
	},
	{
		field: "trust",
		what:  "it needs transport=mean",
		why:   "scalars along different directions do not say whether two devices agree",
		do:    "set transport=mean sharing=shared dense_keep=0, or trust=0",
	},
	{
		field: "trust",
		what:  "it needs roster=dense",
		why:   "a device is known by its slot from round to round",
		do:    "set roster=dense, or trust=0",
	},
	{
		field: "trust",
		what:  "it needs a bound",
		why:   "a device that was trusted could ruin the model with one large contribution",
		do:    "set bound=2, or trust=0",
	},
	{
		field: "trust",
		what:  "it needs control=none",
		why:   "the variates of a device that no longer counts would stay in the model",
		do:    "set control=none, or trust=0",
	},
	{
		field: "trust",
		what:  "it takes no late work",
		why:   "the others' scalars of an earlier round are gone",
		do:    "set late=0 async=off, or trust=0",
	},
	{
		field: "roots",
		what:  "they need trust",
		why:   "without it nobody has to agree with them",
		do:    "set bound=1.5 trust=200, or roots=[]",
	},
	{
		field: "roots",
		what:  "they must be asked in each round",
		why:   "a round without a root's contribution does not close",
		do:    "set members to target (here members=3), or roots=[]",
	},
}
