package probe

// zerosWorthAWarning is how many rounds in a row with zero scalars are no accident.
const zerosWorthAWarning = 3

// watchZeros warns of an engine that rounds weights to steps larger than mu, so that the loss does
// not change.
func (p *Prober) watchZeros(g []float32) {
	if !allZero(g) {
		p.zeros = 0
		return
	}
	switch p.zeros++; {
	case p.zeros != zerosWorthAWarning:
	case p.slopes.projector != nil:
		p.cfg.Logger.Warn("the gradient was zero in 3 rounds: is it that of the loss, at the " +
			"parameters that the runtime gives? scalars below 3e-8 are 0 with less than single precision")
	default:
		p.cfg.Logger.Warn("the loss did not move in 3 rounds: does the engine round the weights " +
			"to steps above mu? raise mu, or mu_scale of the segments it rounds; " +
			"scalars below 3e-8 are 0 with less than single precision")
	}
}
