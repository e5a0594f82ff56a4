package secagg

// A Cost is what a round costs beside what any round does, where nobody drops out.
type Cost struct {
	// Degree and Threshold are those of Graph.
	Degree, Threshold int
	// Up and Down are the bytes of each step that a device sends, and gets. The vector itself is
	// among them: 4 bytes a word, in Up[StepMask].
	Up, Down [StepAgree + 1]int
	// Agreements are the X25519 agreements of a device; so many are 40 us each.
	Agreements int
}

// Price returns what a round of so many members and words costs, with agreement on lists or
// without. It has four steps, with agreement five, so as many ways to the devices and back.
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
