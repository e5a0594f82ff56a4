package valid_test

var refusedSurrogate = []refusedPlan{
	{"control", overSurrogate + "control=scaffold-1"},
	{"perturbations", overSurrogate + "perturbations=2"},
	{"sharing", overSurrogate + "sharing=per-client"},

	{"prior", "prior=zero"},
	{"length_fit", "length_fit=on"},
	{"correction", "correction=one"},
	{"correction_at", "correction_at=round"},
	{"candidates", "candidates=5"},

	{"features", overSurrogate + "features=0"},
	{"features", overSurrogate + "features=65536 dim=4097"},
	{"length_scale", overSurrogate + "length_scale=0"},
	{"noise", overSurrogate + "noise=0"},
	{"window", overSurrogate + "window=1"},
	{"window", "window=1"},
	{"active", overSurrogate + "candidates=0 around=0 radius=0"},
	{"around", overSurrogate + "candidates=0 active=0 radius=0"},
	{"radius", overSurrogate + "radius=0"},
	{"active", overSurrogate + "active=0 around=0"},
	{"heterogeneity", "heterogeneity=1"},
}
