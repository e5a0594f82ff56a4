package wiretest

import "slices"

// guardPlans adds plans that limit the influence of one device, and their faults.
func guardPlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("guard", "ok", "a bound of 3 median lengths, claims of 4 medians, trust over 10 rounds",
		guard()...)
	s.add("plan-all-104", "ok", "no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(merge(all95(), guard()))).value())
	s.add("plan-all-105", "ok", "no field is zero, with derived keys",
		recordOf(kindPlan, 1, planMap(plan105())).value())
	add("key-scheme-over", "upgrade", "an unknown scheme", field{105, Uint(2)})
	s.add("plan-all-109", "ok", "no field is zero, with devices that the operator vouches for",
		recordOf(kindPlan, 1, planMap(plan109())).value())
	add("roots", "ok", "two devices that the operator vouches for", merge(guard(), roots())...)
	add("roots-many", "limit", "17 devices that the operator vouches for",
		field{109, Array(slices.Repeat([]Value{Str("r")}, 17)...)})
	s.add("plan-all-110", "ok", "no field is zero, with the cohort of a round",
		recordOf(kindPlan, 1, planMap(merge(plan109(), cohort()))).value())
	add("cohort", "ok", "a round of two phases asks one cohort",
		merge([]field{{53, Uint(1)}}, cohort())...)
	s.add("plan-all-113", "ok", "no field is zero, with a surrogate that fits its length scale",
		recordOf(kindPlan, 1, planMap(merge(merge(plan109(), cohort()),
			[]field{lists(), {112, Uint(1)}, {113, Uint(1)}}))).value())
	add("prior-new", "upgrade", "an unknown prior mean", field{112, Uint(2)})
	add("length-fit-new", "upgrade", "an unknown fit", field{113, Uint(2)})
	add("cohort-new", "upgrade", "an unknown choice of a cohort", field{110, Uint(2)})
	add("bound-zero", "form", "a zero written out", field{102, Float(0)})
	add("trust-over", "limit", "2^32 rounds", field{104, Uint(1 << 32)})
}

// plan105 has every field up to 105 except the fields of noise.
func plan105() []field {
	return merge(merge(all95(), guard()), []field{{105, Uint(1)}})
}

// plan109 has every field up to 109.
func plan109() []field { return merge(allClasses(), roots()) }

func cohort() []field { return []field{{110, Uint(1)}} }

func roots() []field { return []field{{109, Array(Str("pi-1"), Str("pi-2"))}} }

func guard() []field {
	return []field{{102, Float(3)}, {103, Float(4)}, {104, Uint(10)}}
}
