package plan

import "math"

// ProbeFields is section probe: at which points devices evaluate the loss, and how they use the
// losses.
type ProbeFields struct {
	Sharing       Sharing
	Distribution  Distribution
	Difference    Difference
	Mu            float32 // probe distance, absolute, in parameter units
	MuAuto        uint8   // 1: with Mu = 0 the devices find mu before the next round
	Steps         uint32  // K, local steps a round
	Perturbations uint32  // P, directions a step; with ServerCMA lambda, candidates a round
	Estimator     Estimator
	Batch         uint32  // samples a minibatch; 0: all of a device's data
	SubspaceMoves uint32  // tau, for Subspace: moves that span the subspace
	SubspaceShare float32 // alpha, for Subspace: share of the variance in the subspace
	Pool          uint32  // number of fixed directions to draw from; 0: no pool
	Rebase        uint32  // for Pool: rounds until replicas recompute x from its coefficients

	PerturbationSchedule []PerturbationPoint // P, from given rounds on
	PerturbationsAuto    uint8               // of ServerCMA: 1: the coordinator raises P under noise
}

var probeSection = Section{
	Name: "probe",
	Doc:  "at which points devices evaluate the loss, and how they use the losses",
	fields: []Field{
		{Number: 9, Name: "sharing", names: sharingNames,
			Doc: "whether all devices probe the same directions"},
		{Number: 10, Name: "distribution", names: distributionNames,
			Doc: "distribution of a direction"},
		{Number: 11, Name: "difference", names: differenceNames,
			Doc: "finite difference"},
		{Number: 12, Name: "mu", Changeable: true, min: 1e-18, max: 1e18,
			Unit: "parameter units", Usual: "0.001",
			Doc: "probe distance in parameter units"},
		{Number: 13, Name: "steps", min: 1, max: math.MaxUint16, Unit: "local steps", Usual: "5",
			Doc: "K, local steps a round"},
		{Number: 14, Name: "perturbations", Changeable: true, min: 1, max: math.MaxUint16,
			Unit: "directions",
			Doc:  "P, directions a step"},
		{Number: 21, Name: "perturbation_schedule", Changeable: true,
			Usual: `[{"round":100,"perturbations":20}]`,
			Doc:   "P, from given rounds on"},
		{Number: 37, Name: "batch", Changeable: true, max: anyUint32, Unit: "samples", Usual: "32",
			Doc: "samples a minibatch, 0 for all"},
		{Number: 48, Name: "subspace_moves", max: MaxSubspace, Unit: "rounds", Usual: "5",
			Doc: "tau, moves that span the subspace"},
		{Number: 49, Name: "subspace_share", Changeable: true, max: 1, Usual: "0.5",
			Doc: "alpha, share of the variance in the subspace"},
		{Number: 50, Name: "pool", max: MaxPool, Unit: "directions", Usual: "4096",
			Doc: "number of fixed directions, 0 for no pool"},
		{Number: 51, Name: "rebase", max: anyUint32, Unit: "rounds", Usual: "64",
			Doc: "rounds between rebases of a pool"},
		{Number: 67, Name: "estimator", names: estimatorNames,
			Doc: "how a device estimates the gradient of its loss"},
		{Number: 92, Name: "mu_auto", Changeable: true, names: []string{"off", "on"},
			Doc: "whether devices find mu where it is 0"},
		{Number: 123, Name: "perturbations_auto", Changeable: true, names: []string{"off", "on"},
			Doc: "whether noise raises perturbations, up to 64 times, with server_rule=cma"},
	}}

// A PerturbationPoint sets P from round Round on, until the next point.
type PerturbationPoint struct {
	Round         uint64 `json:"round"`
	Perturbations uint32 `json:"perturbations"`
}

// MaxPerturbations returns the largest P of the plan and its schedule; with PerturbationsAuto the
// largest that noise may make of it.
func (p *Plan) MaxPerturbations() uint32 {
	most := p.Perturbations
	for _, point := range p.PerturbationSchedule {
		most = max(most, point.Perturbations)
	}
	if p.PerturbationsAuto > 0 {
		most = min(most*MaxGrowth, MaxScalars)
	}
	return most
}
