package probe

// zerosWorthAWarning is the number of rounds in a row with zero scalars after which watchZeros
// warns.
const zerosWorthAWarning = 3

// watchZeros warns if the loss does not change in several rounds. An engine may round weights to
// multiples of more than mu.
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
