package secagg

// A Cost is what secure aggregation adds to the cost of a round in which nobody drops out.
type Cost struct {
	// Degree and Threshold are as [Graph] returns them.
	Degree, Threshold int
	// Up and Down are the bytes that a device sends, and gets, in each step. Up[StepMask] includes the
	// vector itself, 4 bytes a word.
	Up, Down [StepAgree + 1]int
	// Agreements is how many X25519 agreements a device computes, at about 40 us each.
	Agreements int
}

// Price returns what a round of this many members and words costs, with agreement on lists or
// without. Each step takes one round trip to the devices: four, or five with agreement.
func Price(members, words int, agree bool) Cost {
	k, t := Graph(members)
	bits := (k + 8) / 8
	c := Cost{
		Degree: k, Threshold: t,
		Up:         [StepAgree + 1]int{keysLen, boxLen * k, 4 * words, keyLen * (k + 1)},
		Down:       [StepAgree + 1]int{0, bits + peerLen*k, bits + boxLen*k, bits},
		Agreements: 2 * k,
	}
	if agree {
		tags := tagLen * k
		c.Up[StepMask], c.Up[StepAgree] = c.Up[StepMask]+tagLen, tagLen
		c.Down[StepAgree], c.Down[StepUnmask] = bits+tags, bits+tags
	}
	return c
}
