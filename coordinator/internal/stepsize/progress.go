package stepsize

// progress measures how the loss falls, from L, the trimmed mean of the losses of a round's
// contributors:
//
//	quick = 0.8 quick + 0.2 L
//	slow  = 0.95 slow + 0.05 L          both begin with L_1
//
// The loss makes progress while slow - quick > (L_1 - quick)/100, where L_1 - quick is the whole
// fall so far. For a steady fall, slow - quick is the fall of 15 rounds. So a round must have more
// than 1/1500 of the whole fall. After a sudden fall the loss makes progress for some 90 rounds
// more. Records hold no losses, so each coordinator hands the averages over to the next.
type progress struct {
	known              bool
	first, quick, slow float64
}

// least is the share of the whole fall by which slow must exceed quick while there is progress.
const least = 0.01

// follow updates the averages with the losses of a round.
func (g *progress) follow(losses []float32) {
	if len(losses) == 0 {
		return
	}
	values := make([]float64, len(losses))
	for i, v := range losses {
		values[i] = float64(v)
	}
	mean := Trimmed(values)
	if !g.known {
		*g = progress{known: true, first: mean, quick: mean, slow: mean}
	}
	g.quick = memory*g.quick + (1-memory)*mean
	g.slow = longMemory*g.slow + (1-longMemory)*mean
}

// made reports whether the loss makes progress.
func (g *progress) made() bool {
	fall := g.first - g.quick
	return fall > 0 && g.slow-g.quick > least*fall
}
