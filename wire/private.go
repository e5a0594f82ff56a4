package wire

// Values of Plan.DPBy.
const (
	// ByDevice: each device cuts its scalars and adds noise, before they leave it.
	ByDevice uint8 = 0
	// ByCoordinator: the coordinator cuts each device's scalars, and adds noise once to their sum.
	ByCoordinator uint8 = 1
)

// Noisy says who adds noise to the scalars of a round: nobody, each device or the coordinator.
func (p *Plan) Noisy() (device, coordinator bool) {
	return p.DPClip > 0 && p.DPBy == ByDevice, p.DPClip > 0 && p.DPBy == ByCoordinator
}
