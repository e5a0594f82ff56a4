package plancheck

// surrogateReasons explain refusals that concern estimator=surrogate.
var surrogateReasons = []reason{
	{field: "perturbations",
		what: "estimator=surrogate probes no directions",
		why:  "active and around count its queries"},
	{field: "features",
		what: "features*dim is limited to 268435456",
		why:  "every device holds that many numbers in memory"},
	{field: "window",
		what: "estimator=surrogate needs 2 or more",
		why:  "one loss shows no slope"},
	{field: "active",
		what: "it is above candidates",
		why:  "the queries at an iterate are chosen among the candidates"},
	{field: "around",
		what: "it is above candidates",
		why:  "the queries at a round's x are chosen among the candidates"},
	{field: "radius",
		what: "candidates need one above 0, and without candidates there is none",
		why:  "candidates are drawn from a cube of this half side"},
	{field: "active",
		what: "estimator=surrogate needs active or around above 0",
		why:  "one loss at a time shows no slope"},
}
