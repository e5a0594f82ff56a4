package plan

// Noisy says who adds noise to the scalars of a round: nobody, each device or the coordinator.
// Without Plan.DPClip nobody adds noise; with it Plan.DPBy says who.
func (p *Plan) Noisy() (device, coordinator bool) {
	return p.DPClip > 0 && p.DPBy == 0, p.DPClip > 0 && p.DPBy == 1
}

// Summed says whether a round has secure aggregation: the coordinator learns only the sum of the
// devices' scalars.
func (p *Plan) Summed() bool { return p.Secure > 0 }
