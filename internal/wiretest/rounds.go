package wiretest

import "math"

// term returns scalars along the directions of the record that is back before this one.
func term(back, source uint64, scalars ...float32) Value {
	return Array(Uint(back), Uint(source), Floats(scalars...))
}

// round9 returns record 9 with the body of a round.
func round9(body ...Value) Value { return recordOf(kindRound, 9, Map(body...)).value() }

// scalars10 are ten scalars, the mean of a round of P = 10.
var scalars10 = []float32{0.5, -1.25, 3, 0.0625, -7.5, 2, 1e-3, -0.1, 42, -1}

// rounds returns the records of rounds. A body's keys are 1 round, 2 attempt,
// 3 step, 4 perturbations, 5 contributors, 6 slots, 7 terms, 9 object, 10 phase,
// 11 weights, 12 population.
func rounds() []Vector {
	s := &set{frame: "record"}
	methodRounds(s)
	denseRounds(s)
	step, one := Float(1e-3), Array(term(0, 0, 0.5))
	s.add("round", "ok", "round 8 of K = 1 and P = 10 with 4 contributors: what most records are",
		round9(Uint(1), Uint(8), Uint(3), step, Uint(4), Uint(10), Uint(5), Uint(4), Uint(7),
			Array(term(0, 0, scalars10...))))
	s.add("round-least", "ok", "step and terms alone, and no term",
		round9(Uint(3), step, Uint(7), Array()))
	s.add("round-most", "ok", "every key; terms of two slots and of an older record",
		round9(Uint(1), Uint(8), Uint(2), Uint(1), Uint(3), step, Uint(4), Uint(2), Uint(5),
			Uint(2),
			Uint(6), Array(Uint(0), Uint(300)), Uint(7),
			Array(term(0, 1, 1, 2), term(0, 301, 3, 4), term(7, 0, 5, 6))))
	s.add("round-not-finite", "ok", "scalars are bits here; a replica judges them",
		round9(Uint(3), step, Uint(7),
			Array(term(0, 0, float32(math.NaN()), float32(math.Inf(-1))))))

	zeros := map[string][]Value{
		"number":        {Uint(1), Uint(0), Uint(3), step, Uint(7), one},
		"attempt":       {Uint(2), Uint(0), Uint(3), step, Uint(7), one},
		"perturbations": {Uint(3), step, Uint(4), Uint(0), Uint(7), one},
		"contributors":  {Uint(3), step, Uint(5), Uint(0), Uint(7), one},
		"slots":         {Uint(3), step, Uint(6), Array(), Uint(7), one},
		"phase":         {Uint(3), step, Uint(7), one, Uint(10), Uint(0)},
		"weights":       {Uint(3), step, Uint(7), one, Uint(11), Array()},
		"population":    {Uint(3), step, Uint(7), one, Uint(12), Uint(0)},
	}
	for _, name := range sorted(zeros) {
		s.add("round-zero-"+name, "form", "a zero written out", round9(zeros[name]...))
	}
	s.add("round-order", "form", "keys out of order", round9(Uint(7), one, Uint(3), step))
	s.add("round-no-step", "form", "no step", round9(Uint(7), one))
	s.add("round-no-terms", "form", "no terms", round9(Uint(3), step))
	s.add("round-step-double", "form", "a 64-bit step", round9(Uint(3), Double(1e-3), Uint(7), one))
	s.add("round-step-integer", "form", "an integer for a step",
		round9(Uint(3), Uint(1), Uint(7), one))
	s.add("round-scalars-odd", "form", "scalars of 3 bytes",
		round9(Uint(3), step, Uint(7), Array(Array(Uint(0), Uint(0), Bin(1, 2, 3)))))
	s.add("round-scalars-array", "form", "scalars as an array",
		round9(Uint(3), step, Uint(7), Array(Array(Uint(0), Uint(0), Array(Float(1))))))
	s.add("round-term-of-two", "form", "a term without a source",
		round9(Uint(3), step, Uint(7), Array(Array(Uint(0), Floats(1, 2, 3)))))
	s.add("round-terms-order", "form", "terms out of order",
		round9(Uint(3), step, Uint(7), Array(term(1, 0, 1), term(0, 0, 1))))
	s.add("round-terms-repeated", "form", "a term twice",
		round9(Uint(3), step, Uint(7), Array(term(0, 2, 1), term(0, 2, 1))))
	s.add("round-slots-order", "form", "slots out of order",
		round9(Uint(3), step, Uint(6), Array(Uint(2), Uint(1)), Uint(7), one))
	s.add("round-slots-repeated", "form", "a slot twice",
		round9(Uint(3), step, Uint(6), Array(Uint(2), Uint(2)), Uint(7), one))
	s.add("round-number-wide", "form", "16 bits for round 8",
		round9(Uint(1), Wide(0xcd, 8), Uint(3), step, Uint(7), one))
	s.add("round-step-nan", "value", "a step that is not a number",
		round9(Uint(3), Float(float32(math.NaN())), Uint(7), one))
	s.add("round-step-inf", "value", "an infinite step",
		round9(Uint(3), Float(float32(math.Inf(1))), Uint(7), one))
	s.add("round-step-minus-zero", "value", "-0, a second form of 0",
		round9(Uint(3), Value{0xca, 0x80, 0, 0, 0}, Uint(7), one))
	s.add("round-back-to-plan", "value", "a term of record 1, which has no directions",
		round9(Uint(3), step, Uint(7), Array(term(8, 0, 1))))
	s.add("round-at-1", "value", "a round in place of the plan",
		recordOf(kindRound, 1, Map(Uint(3), step, Uint(7), Array())).value())
	s.add("round-key-new", "upgrade", "an unknown key",
		round9(Uint(3), step, Uint(7), one, Uint(8), Uint(1)))
	s.add("round-perturbations-over", "limit", "P = 65536",
		round9(Uint(3), step, Uint(4), Uint(65536), Uint(7), one))
	s.add("round-contributors-over", "limit", "2^32 contributors",
		round9(Uint(3), step, Uint(5), Uint(1<<32), Uint(7), one))
	s.add("round-attempt-over", "limit", "attempt 2^32",
		round9(Uint(2), Uint(1<<32), Uint(3), step, Uint(7), one))
	s.add("round-slot-over", "limit", "slot 2^24",
		round9(Uint(3), step, Uint(6), Array(Uint(1<<24)), Uint(7), one))
	s.add("round-source-over", "limit", "the source of slot 2^24",
		round9(Uint(3), step, Uint(7), Array(term(0, 1<<24+1, 1))))
	s.add("round-slots-bomb", "limit", "2^32-1 slots",
		round9(Uint(3), step, Uint(6), arrayBomb, Uint(7), one))
	s.add("round-terms-bomb", "limit", "2^32-1 terms", round9(Uint(3), step, Uint(7), arrayBomb))
	s.add("round-scalars-bomb", "limit", "2^32-1 bytes of scalars",
		round9(Uint(3), step, Uint(7), Array(Array(Uint(0), Uint(0), binBomb))))
	s.add("round-terms-many", "truncated", "4096 terms in no bytes",
		round9(Uint(3), step, Uint(7), Wide(0xdc, 4096)))
	s.add("round-slots-many", "truncated", "16384 slots in no bytes",
		round9(Uint(3), step, Uint(6), Wide(0xdc, 16384)))
	s.add("round-scalars-cut", "truncated", "8 bytes of scalars announced, 4 there",
		round9(Uint(3), step, Uint(7), Array(Array(Uint(0), Uint(0), Value{0xc4, 8, 0, 0, 0, 0}))))
	return s.list
}
