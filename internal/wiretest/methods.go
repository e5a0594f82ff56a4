package wiretest

// halves10 are the scalars of scalars10 as binary16, 1e-3 and -0.1 rounded.
var halves10 = Halves(0x3800, 0xbd00, 0x4200, 0x2c00, 0xc780, 0x4000, 0x1419, 0xae66, 0x5140,
	0xbc00)

// nibbles5 are 5 scalars of 4 bits, r = 1 and the codes 7, -8, 0, -1, 3.
var nibbles5 = Bin(0x00, 0x3c, 0x87, 0xf0, 0x03, 0x00)

// methodRounds adds the rounds of methods whose records hold more than a mean, and their faults.
func methodRounds(s *set) {
	step, one := Float(1e-3), Array(term(0, 0, 0.5))
	head := []Value{Uint(1), Uint(8), Uint(3), step, Uint(4), Uint(2), Uint(5), Uint(2)}
	body := func(more ...Value) Value {
		return round9(append(append([]Value{}, head...), more...)...)
	}
	relayed := Array(term(0, 1, 1, 2), term(0, 301, 3, 4))
	s.add("round-relay", "ok", "each of two contributors' scalars, of slots 0 and 300",
		body(Uint(7), relayed))
	s.add("round-relay-weights", "ok", "the same, 600 samples and 2^20",
		body(Uint(7), relayed, Uint(11), Array(Uint(600), Uint(1<<20))))
	s.add("round-phase-1", "ok", "scaffold-1: what devices found at the round's first point",
		body(Uint(7), Array(term(0, 0, 1, 2)), Uint(10), Uint(1)))
	s.add("round-phase-2", "ok",
		"scaffold-1: the mean of K = 2 steps, and along the record before that of the "+
			"contributors' control variates",
		body(Uint(7), Array(term(0, 0, 1, 2, 3, 4), term(1, 0, 5, 6)), Uint(10), Uint(2)))
	s.add("round-scaffold-2", "ok",
		"scaffold-2: contributors, control variates of records 7 and 2, a population of 100",
		body(Uint(6), Array(Uint(0), Uint(300)), Uint(7),
			Array(term(0, 0, 1, 2), term(2, 0, 3, 4), term(7, 0, 5, 6)), Uint(12), Uint(100)))
	s.add("round-half", "ok", "a mean of ten scalars of half precision",
		body(Uint(7), Array(Array(Uint(0), Uint(0), halves10))))
	s.add("round-int4", "ok",
		"each of two contributors' scalars in 4 bits: 5 of slot 0, and as many of slot 300",
		body(Uint(7), Array(Array(Uint(0), Uint(1), nibbles5),
			Array(Uint(0), Uint(301), Bin(0, 0, 0, 0, 0, 0)))))
	lateRounds(s, body)
	scheduleRounds(s, body)
	groupRounds(s, body)

	fault := func(name, expect, comment string, number uint64, v Value) {
		s.add("round-"+name, expect, comment, round9(Uint(3), step, Uint(7), one, Uint(number), v))
	}
	fault("phase-new", "upgrade", "an unknown phase", 10, Uint(3))
	fault("key-13", "upgrade", "an unknown key", 13, Uint(1))
	fault("weight-zero", "value", "a weight of no sample", 11, Array(Uint(0)))
	fault("weight-over", "limit", "2^20+1 samples", 11, Array(Uint(1<<20+1)))
	fault("population-over", "limit", "2^24+1 devices", 12, Uint(1<<24+1))
	fault("weights-bomb", "limit", "2^32-1 weights", 11, arrayBomb)
	fault("weights-many", "truncated", "4096 weights in no bytes", 11, Wide(0xdc, 4096))
	fault("weights-bin", "form", "weights as a byte string", 11, Bin(1))
	fault("phase-wide", "form", "8 bits for phase 1", 10, Wide(0xcc, 1))
}

// methodPlans adds the plans of methods, and their faults.
func methodPlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("relay", "ok",
		"ZOFedHT with momentum and AMSGrad, halves, lengths clipped, a secret run key: a plan "+
			"that can run",
		field{2, Str("zofedht")}, field{4, nil}, field{9, Uint(1)}, field{10, Uint(4)},
		field{11, Uint(2)}, field{12, Float(1e-4)},
		field{13, Uint(50)}, field{14, Uint(1)}, field{15, Uint(2)}, field{16, Float(0.9)},
		field{18, Float(1)}, field{19, Uint(1)},
		field{22, Uint(1)}, field{23, Uint(3)}, field{24, Uint(1)}, field{26, Float(65504)},
		field{37, Uint(64)},
		field{47, Bin(Seq(0xc0, 32)...)}, field{48, Uint(5)}, field{49, Float(0.5)},
		field{52, Float(0.25)}, field{54, Uint(4)},
		field{55, Float(0.02)}, field{56, Float(0.9)}, field{57, Float(0.99)},
		field{58, Float(1e-8)}, field{59, Float(1e-5)},
		field{60, Uint(1)}, field{62, Float(100)})
	for i, name := range []string{"int8", "int4", "int2"} {
		add(name, "ok", "own directions, scalars of few bits: a plan that can run",
			field{9, Uint(1)}, field{22, Uint(1)}, field{26, Float(65504)},
			field{60, Uint(uint64(3 + i))})
	}
	add("pool", "ok",
		"4096 directions on the sphere, rebased each 64 rounds, trimmed: a plan that can run",
		field{10, Uint(3)}, field{23, Uint(2)}, field{50, Uint(4096)}, field{51, Uint(64)},
		field{61, Float(0.125)})
	add("control", "ok", "scaffold-2 with a server's momentum: a plan that can run",
		field{2, Str("scaffold-2")}, field{13, Uint(10)}, field{53, Uint(2)}, field{54, Uint(2)},
		field{55, Float(1)}, field{56, Float(0.5)})
	add("adagrad", "ok", "the server rule adagrad, which has no second factor: a plan that can run",
		field{13, Uint(10)}, field{54, Uint(10)}, field{55, Float(0.02)}, field{56, Float(0.9)},
		field{58, Float(1e-8)}, field{59, Float(1e-5)})
	add("svrg", "ok", "ZO-SVRG, both phases ask one cohort: a plan that can run",
		field{2, Str("zo-svrg")}, field{13, Uint(5)}, field{53, Uint(4)}, field{110, Uint(1)})
	s.add("plan-all", "ok",
		"none of the fields 1 to 62 is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(all())).value())

	add("distribution-new", "upgrade", "an unknown distribution", field{10, Uint(5)})
	add("aggregator-new", "upgrade", "an unknown aggregator", field{23, Uint(4)})
	add("control-new", "upgrade", "an unknown correction", field{53, Uint(3)})
	add("server-rule-new", "upgrade", "an unknown server rule", field{54, Uint(7)})
	add("precision-new", "upgrade", "an unknown width of scalars", field{60, Uint(2)})
	add("precision-6", "upgrade", "an unknown precision of scalars", field{60, Uint(6)})
	add("key-check-long", "limit", "65 bytes", field{47, Bin(Seq(0, 65)...)})
	add("server-v0-nan", "value", "not a number", field{59, Value{0xca, 0x7f, 0xc0, 0, 0}})
	add("pool-over", "limit", "2^32 directions", field{50, Uint(1 << 32)})
}

// all returns a plan in which none of the fields 1 to 62 is zero.
func all() []field {
	return merge(full(), []field{
		{9, Uint(1)}, {22, Uint(1)}, {23, Uint(2)}, {47, Bin(Seq(0xc0, 32)...)}, {48, Uint(5)},
		{49, Float(0.5)}, {50, Uint(4096)},
		{51, Uint(64)}, {52, Float(0.25)}, {53, Uint(2)}, {54, Uint(4)}, {55, Float(0.02)},
		{56, Float(0.9)}, {57, Float(0.99)},
		{58, Float(1e-8)}, {59, Float(1e-5)}, {60, Uint(1)}, {61, Float(0.125)}, {62, Float(100)},
	})
}
