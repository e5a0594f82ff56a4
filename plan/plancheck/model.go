package plancheck

var modelReasons = []reason{
	{"boxes", "it needs transport=dense",
		"the mean of models that were kept in a box is no function of mean scalars"},
	{"max_scalar", "it is below the largest end of a box",
		"parameters may reach the ends of their boxes, and vectors with larger elements are refused"},
}
