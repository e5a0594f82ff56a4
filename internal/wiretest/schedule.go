package wiretest

import "math"

// scheduleRounds adds rounds with a factor on the server step. body returns a round with more
// fields.
func scheduleRounds(s *set, body func(more ...Value) Value) {
	terms := Array(term(0, 0, 1, 2))
	add := func(name, expect, comment string, v Value) {
		s.add("round-factor"+name, expect, comment, body(Uint(7), terms, Uint(14), v))
	}
	add("", "ok", "half of server_step", Float(0.5))
	add("-large", "ok", "a replica judges it", Float(-1e30))
	add("-one", "form", "1 written out, which is left out", Float(1))
	add("-zero", "form", "0, which no record has", Float(0))
	add("-integer", "form", "an integer for a float", Uint(2))
	add("-nan", "value", "not a number", Value{0xca, 0x7f, 0xc0, 0, 0})
	add("-inf", "value", "infinite", Float(float32(math.Inf(1))))
}

// schedulePlans adds plans of the rule normalized and of the step's schedules, and their faults.
func schedulePlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("normalized", "ok", "own signs, normalized momentum, decay, a cosine: a plan that can run",
		field{9, Uint(1)}, field{10, Uint(2)}, field{11, Uint(1)}, field{14, Uint(19)},
		field{18, Float(0.12)}, field{19, Uint(2)}, field{22, Uint(1)}, field{42, Uint(1300)},
		field{54, Uint(8)}, field{56, Float(0.9)}, field{57, Float(0.99)},
		field{89, Float(0.05)}, field{90, Float(0.03)})
	add("slow-sqrt", "ok", "a schedule without an end: a plan that can run", field{19, Uint(4)})
	s.add("plan-all-90", "ok",
		"no field up to 90 is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(all90())).value())
	add("server-rule-9", "upgrade", "an unknown server rule", field{54, Uint(9)})
	add("step-decay-new", "upgrade", "an unknown schedule", field{19, Uint(5)})
	add("floor-nan", "value", "not a number", field{89, Value{0xca, 0x7f, 0xc0, 0, 0}})
}

// all90 returns a plan in which none of the fields 1 to 90 is zero.
func all90() []field { return merge(all86(), []field{{89, Float(0.05)}, {90, Float(0.03)}}) }
