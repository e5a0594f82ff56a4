package wiretest

// lateRounds adds rounds with late contributions. body returns a round with more fields.
func lateRounds(s *set, body func(more ...Value) Value) {
	s.add("round-late", "ok", "a mean of two scalars, and late work along records 8 and 5",
		body(Uint(7), Array(term(0, 0, 1, 2), term(1, 0, 3, 4), term(4, 0, 5, 6, 7, 8))))
	s.add("round-late-relay", "ok", "slot 0 on time, and slots 0 and 300 late at record 8",
		body(Uint(7), Array(term(0, 1, 1, 2), term(1, 1, 3, 4), term(1, 301, 5, 6))))
	s.add("round-late-order", "form", "late work along records 5 and 8, in this order",
		body(Uint(7), Array(term(0, 0, 1, 2), term(4, 0, 3, 4), term(1, 0, 5, 6))))
}

// latePlans adds plans that let late contributions count, and their faults.
func latePlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("late", "ok", "late work of 4 rounds, FedBuff's discount: a plan that can run",
		field{82, Uint(4)})
	add("late-async", "ok", "the same, records close at any age", field{82, Uint(4)},
		field{86, Uint(1)})
	s.add("plan-all-86", "ok", "no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(all86())).value())
	add("late-zero", "form", "a zero written out", field{82, Uint(0)})
	add("async-new", "upgrade", "an unknown way to close a round", field{86, Uint(2)})
}

// all86 returns a plan in which none of the fields 1 to 86 is zero.
func all86() []field { return merge(all80(), []field{{82, Uint(4)}, {86, Uint(1)}}) }
