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
	s.add("plan-all-108", "ok", "no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(merge(merge(plan105(), noise()), shared()))).value())
	add("secure-noise", "ok", "devices add shares of the noise of a sum",
		field{98, Float(2)}, field{99, Float(0.5)}, field{101, Float(1e-5)}, field{106, Uint(1)},
		field{108, Uint(1)})
	add("secure-noise-unknown", "upgrade", "the noise of others", field{108, Uint(2)})
	add("secure-zero", "form", "a zero written out", field{106, Uint(0)})
	add("secure-unknown", "upgrade", "another way of aggregation", field{106, Uint(2)})
	add("secure-lists", "ok", "devices agree on who takes part in a sum", append(secure(), lists())...)
	s.add("plan-all-111", "ok", "no field is zero but cohort, with agreement on lists",
		recordOf(kindPlan, 1, planMap(merge(merge(allClasses(), roots()), []field{lists()}))).value())
	add("secure-lists-unknown", "upgrade", "another way to agree", field{111, Uint(2)})
}

func lists() field { return field{111, Uint(1)} }

func shared() []field { return append(secure(), field{108, Uint(1)}) }

func secure() []field { return []field{{106, Uint(1)}, {107, Float(100)}} }
