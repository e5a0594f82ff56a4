package wiretest

// groupPlans adds plans whose devices share directions by groups, and their faults.
func groupPlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("groups", "ok", "two groups of five, drawn anew each 10 rounds: a plan that can run",
		field{9, Uint(3)}, field{22, Uint(1)}, field{93, Uint(1)}, field{94, Uint(5)},
		field{95, Uint(10)})
	s.add("plan-all-95", "ok", "no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(all95())).value())
	add("classes", "ok", "groups by ten classes: a plan that can run", field{9, Uint(3)},
		field{22, Uint(1)}, field{93, Uint(2)}, field{94, Uint(5)}, field{95, Uint(10)},
		field{96, Uint(10)})
	add("classes-zero", "form", "a zero written out", field{96, Uint(0)})
	add("classes-over", "limit", "2^32 classes", field{96, Uint(1 << 32)})
	s.add("plan-all-classes", "ok",
		"no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(allClasses())).value())
	add("groups-new", "upgrade", "an unknown way to choose groups", field{93, Uint(200)})
	add("group-size-zero", "form", "a zero written out", field{94, Uint(0)})
	add("regroup-over", "limit", "2^32 rounds", field{95, Uint(1 << 32)})
}

// all95 returns a plan in which no field up to 95 is zero.
func all95() []field {
	return merge(all92(), []field{{93, Uint(1)}, {94, Uint(5)}, {95, Uint(10)}})
}

// groupRounds adds rounds that have a term for each group.
func groupRounds(s *set, body func(more ...Value) Value) {
	s.add("round-groups", "ok", "the means of groups 0 and 1, along the directions of their slots",
		body(Uint(7), Array(term(0, 1, 1, 2), term(0, 2, 3, 4))))
}

// allClasses has a value for each field up to 108.
func allClasses() []field {
	return merge(merge(plan105(), noise()), merge(shared(), []field{{96, Uint(10)}}))
}
