package plancheck

var modelReasons = []reason{
	{"boxes", "it needs transport=dense or server_rule=cma",
		"the mean of models that were kept in a box is no function of mean scalars"},
	{"max_scalar", "it is below the largest end of a box",
		"parameters may reach the ends of their boxes, and vectors with larger elements are refused"},
	{"columns", "stats has another number of columns",
		"devices find statistics only where stats has none"},
	{"columns", "dp_clip needs stats that are given",
		"devices would send statistics of their data without noise; what is known of the columns, such " +
			"as from public data, goes into stats"},
}
