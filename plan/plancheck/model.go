package plancheck

// modelReasons are of models and keys that a plan does not have in itself.
var modelReasons = []reason{
	{field: "initial_digest",
		what: "give the 32-byte digest of the parameters; replica.InitialDigest computes it",
		do:   "begin with --initial FILE, which writes it"},
	{field: "key_scheme",
		what: "leave it out: the run key is no secret",
		do:   "make the plan with --secret FILE, which sets it"},
}
