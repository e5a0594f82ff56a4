package secagg

// A Cost is what a round costs beside what any round does, where nobody drops out.
type Cost struct {
	// Degree and Threshold are those of Graph.
	Degree, Threshold int
	// Up and Down are the bytes of each step that a device sends, and gets. The vector itself is
	// among them: 4 bytes a word, in Up[StepMask].
	Up, Down [StepDone]int
	// Agreements are the X25519 agreements of a device; so many are 40 us each.
	Agreements int
}

// Price returns what a round of so many members and words costs. It has four steps, so four ways to
// the devices and back.
func Price(members, words int) Cost {
	k, t := Graph(members)
	bits := (k + 8) / 8
	return Cost{
		Degree: k, Threshold: t,
		Up:         [StepDone]int{keysLen, boxLen * k, 4 * words, keyLen * (k + 1)},
		Down:       [StepDone]int{0, bits + peerLen*k, bits + boxLen*k, bits},
		Agreements: 2 * k,
	}
}
