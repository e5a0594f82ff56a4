package wiretest

// noisePlans adds plans with differential privacy, and their faults.
func noisePlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("noise", "ok", "cut to a norm of 2, noise of half of it, by the coordinator", noise()...)
	s.add("plan-all-noise", "ok", "no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(merge(plan105(), noise()))).value())
	add("noise-zero", "form", "a zero written out", field{98, Float(0)})
	add("noise-by", "upgrade", "a third party adds the noise", field{100, Uint(2)})
}

func noise() []field {
	return []field{{98, Float(2)}, {99, Float(0.5)}, {100, Uint(1)}, {101, Float(1e-5)}}
}
