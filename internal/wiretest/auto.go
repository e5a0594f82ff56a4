package wiretest

// autoPlans adds plans in which devices find a value, and their faults.
func autoPlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("mu-auto", "ok", "devices find mu: a plan that can run",
		field{12, nil}, field{92, Uint(1)})
	add("mu-auto-found", "ok", "they would, but mu is given: a plan that can run",
		field{92, Uint(1)})
	add("step-auto", "ok", "devices find step: a plan that can run",
		field{18, nil}, field{54, Uint(8)}, field{56, Float(0.9)}, field{57, Float(0.99)},
		field{91, Uint(1)})
	add("step-auto-new", "upgrade", "an unknown way to find step", field{91, Uint(2)})
	add("mu-auto-new", "upgrade", "an unknown way to find mu", field{92, Uint(2)})
	s.add("plan-all-92", "ok", "no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(all92())).value())
	add("loss-unit", "ok", "slopes of a large loss: a plan that can run",
		field{54, Uint(8)}, field{56, Float(0.9)}, field{57, Float(0.99)}, field{114, Float(1 << 30)})
	add("loss-unit-zero", "form", "a zero written out", field{114, Float(0)})
	s.add("plan-all-114", "ok", "no field is zero, with a unit of the loss",
		recordOf(kindPlan, 1, planMap(all114())).value())
}

// all114 has a value for each field up to 114.
func all114() []field {
	before := append(append(roots(), cohort()...), lists(), field{112, Uint(1)},
		field{113, Uint(1)})
	return merge(merge(allClasses(), before), []field{{114, Float(1 << 30)}})
}

// all92 returns a plan in which none of the fields 1 to 92 is zero.
func all92() []field {
	return merge(all90(), []field{{91, Uint(1)}, {92, Uint(1)}})
}
