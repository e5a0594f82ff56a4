package wiretest

// securePlans adds plans with secure aggregation, and their faults.
func securePlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("secure", "ok", "the coordinator learns sums of scalars of at most 100", secure()...)
	s.add("plan-all-107", "ok", "no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(merge(merge(plan105(), noise()), secure()))).value())
	add("secure-zero", "form", "a zero written out", field{106, Uint(0)})
	add("secure-unknown", "upgrade", "another way of aggregation", field{106, Uint(2)})
}

func secure() []field { return []field{{106, Uint(1)}, {107, Float(100)}} }
