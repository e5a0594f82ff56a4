package plancheck

var probeReasons = []reason{
	{"roster", "sharing=per-client needs roster=dense",
		"a device's own directions derive from its slot, and an open roster assigns no slots"},
	{"subspace_moves", "distribution=subspace needs subspace_moves above 0",
		"that many of the last moves span the subspace"},
	{"subspace_share", "distribution=subspace needs subspace_share above 0 and below 1",
		"0 is distribution=normal, and at 1 no direction would leave the subspace"},
	{"distribution", "distribution=lowrank needs a segment with rows",
		"without a matrix its directions are those of distribution=rademacher"},
	{"pool", "a pool needs 2 or more directions", "with one direction the model moves on a line"},
	{"rebase", "pool needs rebase above 0",
		"after that many rounds x is recomputed from the pool's coefficients"},
	{"pool", "it needs sharing=shared", "all devices draw their directions from the same pool"},
	{"pool", "it excludes distribution=subspace",
		"the subspace moves, so its directions never repeat"},
	{"pool", "it excludes distribution=lowrank",
		"a pool pays for directions of many elements once, and these take few signs"},
	{"pool", "it needs server_rule=mean",
		"most server rules act element by element, after which x is no sum of coefficients times " +
			"directions"},
	{"pool", "it needs control=none",
		"control variates would double the coefficients at every step"},
	{"pool", "a pool with decay or prox needs equal step scales",
		"each segment would need coefficients of its own"},
}
