package wiretest

import (
	"math"
	"slices"
	"strings"
)

// A field is a plan's field number and its value.
type field struct {
	number uint64
	value  Value
}

func planMap(fields []field) Value {
	var v []Value
	for _, f := range fields {
		v = append(v, Uint(f.number), f.value)
	}
	return Map(v...)
}

// small returns a plan that can run: DeComFL over 7850 parameters.
func small() []field {
	return []field{
		{1, Str("mnist")}, {2, Str("decomfl")}, {3, Uint(1)}, {4, Bin(Seq(0x40, 32)...)},
		{5, Uint(7850)},
		{10, Uint(1)}, {11, Uint(1)}, {12, Float(1e-3)}, {13, Uint(1)}, {14, Uint(10)},
		{15, Uint(1)}, {18, Float(1e-3)}, {25, Uint(1 << 20)}, {26, Float(1e6)},
		{28, Uint(10)}, {29, Uint(10)}, {30, Float(1)}, {31, Uint(5)}, {32, Uint(30000)},
		{33, Uint(3)}, {34, Uint(5000)}, {35, Uint(512)}, {36, Uint(1)}, {37, Uint(32)},
		{41, Uint(64)}, {46, Float(1)},
	}
}

func smallPlan() Value { return planMap(small()) }

// segment returns a segment's array.
func segment(name string, length, fill uint64, scales ...float32) Value {
	return Array(Str(name), Uint(length), Uint(fill), Float(scales[0]), Float(scales[1]),
		Float(scales[2]))
}

// full returns a plan with every field set that a run of DeComFL can set.
func full() []field {
	return []field{
		{1, Str("full")}, {2, Str("decomfl")}, {3, Uint(1)}, {4, Bin(Seq(0x40, 32)...)},
		{5, Uint(100)},
		{6, Array(segment("w", 60, 0, 0, 0.5, 2), segment("b", 40, 0, 0, 0, 0))},
		{7, Uint(1)}, {8, Bin(Seq(0x80, 32)...)},
		{10, Uint(2)}, {11, Uint(2)}, {12, Float(1e-2)}, {13, Uint(5)}, {14, Uint(20)},
		{15, Uint(3)}, {16, Float(0.9)}, {17, Float(1e-5)}, {18, Float(1e-3)}, {19, Uint(1)},
		{21, Array(Array(Uint(100), Uint(40)))},
		{24, Uint(1)}, {25, Uint(500)}, {26, Float(1000)}, {27, Uint(1)},
		{28, Uint(300)}, {29, Uint(100)}, {30, Float(1.5)}, {31, Uint(50)}, {32, Uint(60000)},
		{33, Uint(5)}, {34, Uint(2000)}, {35, Uint(1024)}, {36, Uint(36)}, {37, Uint(64)},
		{38, Uint(50)}, {39, Uint(10)}, {40, Array(Str("loss"), Str("accuracy"))}, {41, Uint(128)},
		{42, Uint(100000)}, {43, Str("loss")}, {44, Uint(1)}, {45, Float(0.125)}, {46, Float(2)},
	}
}

// smallWith returns the small plan with one field replaced or added.
func smallWith(f field) Value {
	return recordOf(kindPlan, 1, planMap(merge(small(), []field{f}))).value()
}

// merge returns fields with those of changes replaced or added, or left out if their
// value is nil.
func merge(fields, changes []field) []field {
	for _, f := range changes {
		at, found := slices.BinarySearchFunc(fields, f.number,
			func(a field, n uint64) int { return int(a.number) - int(n) })
		switch {
		case !found:
			fields = slices.Insert(fields, at, f)
		case f.value == nil:
			fields = slices.Delete(fields, at, at+1)
		default:
			fields[at] = f
		}
	}
	return fields
}

// plans has the records that are plans.
func plans() []Vector {
	s := &set{frame: "record"}
	s.add("plan", "ok", "DeComFL over 7850 parameters, a plan that can run",
		recordOf(kindPlan, 1, smallPlan()).value())
	s.add("plan-full", "ok",
		"every field of DeComFL that can be other than zero, a plan that can run",
		recordOf(kindPlan, 1, planMap(full())).value())
	s.add("plan-empty", "ok", "a plan of zeros: read, though none that can run",
		recordOf(kindPlan, 1, Map()).value())

	fault := func(name, expect, comment string, number uint64, v Value) {
		s.add("plan-"+name, expect, comment, smallWith(field{number, v}))
	}
	fault("zero-integer", "form", "a zero written out", 38, Uint(0))
	fault("zero-float", "form", "a zero written out", 16, Float(0))
	fault("zero-choice", "form", "a zero written out", 9, Uint(0))
	fault("zero-string", "form", "an empty string written out", 43, Str(""))
	fault("zero-list", "form", "an empty list written out", 40, Array())
	fault("zero-bytes", "form", "an empty byte string written out", 8, Bin())
	fault("dim-float", "form", "a float for an integer", 5, Float(7850))
	fault("mu-integer", "form", "an integer for a float", 12, Uint(1))
	fault("segment-of-five", "form", "a segment without its last factor", 6,
		Array(Array(Str("longer-name-of-a-segment"), Uint(7850), Uint(0), Float(0), Float(0))))
	fault("point-of-three", "form", "a point of three", 21,
		Array(Array(Uint(1), Uint(1), Uint(1))))
	fault("mu-nan", "value", "not a number", 12, Float(float32(math.NaN())))
	fault("mu-inf", "value", "infinite", 12, Float(float32(math.Inf(1))))
	fault("beta-minus-zero", "value", "-0, a second form of 0", 16, Value{0xca, 0x80, 0, 0, 0})
	fault("run-utf8", "value", "not UTF-8", 1, Str("mn\xc3ist"))
	fault("run-long", "limit", "a name of 33 bytes", 1, Str(strings.Repeat("x", 33)))
	fault("run-key-long", "limit", "65 bytes", 4, Bin(Seq(0, 65)...))
	fault("members-over", "limit", "2^32", 28, Uint(1<<32))
	fault("metrics-many", "limit", "17 metrics", 40, Array(slices.Repeat([]Value{Str("m")}, 17)...))
	fault("segments-bomb", "limit", "2^32-1 segments", 6, arrayBomb)
	fault("segments-many", "truncated", "512 segments in a short record", 6, Wide(0xdc, 512))
	fault("points-many", "limit", "65 points", 21, Wide(0xdc, 65))
	fault("segment-len-over", "limit", "2^41+1 parameters", 6,
		Array(segment("all", 1<<41+1, 0, 0, 0, 0)))
	fault("field-new", "upgrade", "an unknown field", 81, Uint(1))
	unusedFields(fault)
	fault("scheme-2", "upgrade", "an unknown scheme of directions", 3, Uint(2))
	fault("rule-new", "upgrade", "an unknown rule", 15, Uint(5))
	fault("sharing-new", "upgrade", "an unknown sharing", 9, Uint(2))
	fault("transport-new", "upgrade", "an unknown transport", 22, Uint(3))
	fault("fill-new", "upgrade", "an unknown fill", 6, Array(segment("all", 7850, 3, 1, 0, 0)))
	methodPlans(s)
	densePlans(s)
	groupPlans(s)
	guardPlans(s)
	noisePlans(s)
	securePlans(s)

	order := small()
	order[0], order[1] = order[1], order[0]
	s.add("plan-order", "form", "fields out of order",
		recordOf(kindPlan, 1, planMap(order)).value())
	s.add("plan-repeated", "form", "a field twice",
		recordOf(kindPlan, 1, planMap(append(small()[:1], small()...))).value())
	plan := recordOf(kindPlan, 1, smallPlan()).value()
	s.add("plan-cut", "truncated", "ends within the run key", plan[:60])
	return s.list
}
