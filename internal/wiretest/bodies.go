package wiretest

import (
	"maps"
	"slices"
	"strings"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// bodies returns the records that are neither plans nor rounds.
func bodies() []Vector {
	s := &set{frame: "record"}
	add := func(name, expect, comment string, kind uint64, body Value) {
		s.add(name, expect, comment, recordOf(kind, 9, body).value())
	}
	add("end-text", "ok", "an end with a text", kindEnd,
		Map(Uint(1), Uint(3), Uint(2), Str("accuracy 0.95")))
	add("end-empty", "form", "no reason", kindEnd, Map())
	add("end-text-only", "form", "a text without a reason", kindEnd, Map(Uint(2), Str("why")))
	add("end-text-empty", "form", "an empty text written out", kindEnd,
		Map(Uint(1), Uint(1), Uint(2), Str("")))
	add("end-text-bin", "form", "the text as a byte string", kindEnd,
		Map(Uint(1), Uint(1), Uint(2), Bin('w', 'h', 'y')))
	add("end-text-wide", "form", "8-bit length for 3 bytes", kindEnd,
		Map(Uint(1), Uint(1), Uint(2), append(Wide(0xd9, 3), "why"...)))
	add("end-reason-zero", "form", "a zero written out", kindEnd, Map(Uint(1), Uint(0)))
	add("end-reason-new", "upgrade", "an unknown reason", kindEnd, Map(Uint(1), Uint(5)))
	add("end-text-long", "limit", "a text of 257 bytes", kindEnd,
		Map(Uint(1), Uint(1), Uint(2), Str(strings.Repeat("x", 257))))
	add("end-text-bomb", "limit", "a text of 2^32-1 bytes", kindEnd,
		Map(Uint(1), Uint(1), Uint(2), strBomb))
	add("end-text-truncated", "truncated", "a text longer than the record", kindEnd,
		Map(Uint(1), Uint(1), Uint(2), Str("why")[:3]))
	add("end-text-utf8", "value", "a text that is not UTF-8", kindEnd,
		Map(Uint(1), Uint(1), Uint(2), Str("\xff")))

	add("rollback", "ok", "back to record 4", kindRollback, Map(Uint(1), Uint(4)))
	add("rollback-nowhere", "value", "no index", kindRollback, Map())
	add("rollback-zero", "value", "to before the plan", kindRollback, Map(Uint(1), Uint(0)))
	add("rollback-self", "value", "to itself", kindRollback, Map(Uint(1), Uint(9)))
	add("rollback-key-new", "upgrade", "an unknown key", kindRollback,
		Map(Uint(1), Uint(4), Uint(2), Uint(1)))

	add("change", "ok", "step 0.5, deadline 1000", kindChange,
		Map(Uint(18), Float(0.5), Uint(32), Uint(1000)))
	add("change-to-zero", "ok", "weight decay 0: a change writes zeros", kindChange,
		Map(Uint(17), Float(0)))
	add("change-lists", "ok", "a schedule of P, and no roots", kindChange,
		Map(Uint(21), Array(Array(Uint(100), Uint(20))), Uint(109), Array()))
	add("change-methods", "ok",
		"what may change of methods: tau's share, prox, the server's step and betas, trim, clip",
		kindChange,
		Map(Uint(49), Float(0.25), Uint(52), Float(0), Uint(55), Float(0.5), Uint(56), Float(0),
			Uint(57), Float(0.5), Uint(58), Float(1e-3),
			Uint(61), Float(0.25), Uint(62), Float(10)))
	add("change-dense", "ok",
		"what may change of dense runs: vectors kept, adam's numbers, a surrogate's queries and "+
			"correction", kindChange,
		Map(Uint(63), Uint(8), Uint(65), Float(0.99), Uint(66), Float(1e-6), Uint(74), Uint(0),
			Uint(75), Uint(10), Uint(76), Uint(50),
			Uint(77), Float(0.02), Uint(78), Uint(0), Uint(79), Uint(1), Uint(80), Float(0)))
	add("change-empty", "value", "nothing changed", kindChange, Map())
	add("change-minus-zero", "value", "-0, a second form of 0", kindChange,
		Map(Uint(17), Value{0xca, 0x80, 0, 0, 0}))
	add("change-order", "form", "keys out of order", kindChange,
		Map(Uint(32), Uint(1000), Uint(18), Float(0.5)))
	add("change-fixed", "upgrade", "a field that version 1 cannot change", kindChange,
		Map(Uint(5), Uint(10)))
	add("change-new", "upgrade", "an unknown field", kindChange, Map(Uint(81), Uint(1)))
	return s.list
}
