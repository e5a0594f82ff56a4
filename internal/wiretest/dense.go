package wiretest

import (
	"math"
	"slices"
)

// object is a digest of a vector.
var object = Bin(Seq(0xd0, 32)...)

// denseRounds adds the rounds of dense transport, and their faults.
func denseRounds(s *set) {
	step := Float(1e-3)
	body := func(more ...Value) Value {
		head := []Value{Uint(1), Uint(8), Uint(3), step, Uint(4), Uint(1), Uint(5), Uint(2),
			Uint(7), Array()}
		return round9(append(head, more...)...)
	}
	s.add("round-dense", "ok", "no terms, the digest of the contributors' mean vector",
		body(Uint(9), object))
	s.add("round-dense-phase-2", "ok", "fzoos: the digest of the mean of w",
		body(Uint(9), object, Uint(10), Uint(2)))

	fault := func(name, expect, comment string, v Value) {
		s.add("round-object-"+name, expect, comment, body(Uint(9), v))
	}
	fault("empty", "form", "an empty digest written out", Bin())
	fault("short", "form", "31 bytes", Bin(Seq(0xd0, 31)...))
	fault("long", "form", "33 bytes", Bin(Seq(0xd0, 33)...))
	fault("string", "form", "a digest as a string", Str(string(Seq(0x20, 32))))
	fault("wide", "form", "16-bit length for 32 bytes", append(Wide(0xc5, 32), Seq(0xd0, 32)...))
	fault("bomb", "limit", "2^32-1 bytes", binBomb)
	fault("cut", "truncated", "a digest longer than the record", Wide(0xc4, 32))
}

// box returns the array of a box.
func box(low, high float32) Value { return Array(Float(low), Float(high)) }

// adamFields returns the fields of a plan with transport=dense, rule=adam and a box.
func adamFields(preset string) []field {
	return []field{{2, Str(preset)}, {13, Uint(10)}, {15, Uint(4)}, {16, Float(0.9)},
		{18, Float(0.01)}, {22, Uint(2)},
		{63, Uint(16)}, {64, Array(box(-1, 1))}, {65, Float(0.999)}, {66, Float(1e-8)}}
}

// densePlans adds the plans of dense transport, and their faults.
func densePlans(s *set) {
	add := func(name, expect, comment string, fields ...field) {
		s.add("plan-"+name, expect, comment,
			recordOf(kindPlan, 1, planMap(merge(small(), fields))).value())
	}
	add("dense", "ok",
		"FedZO with local Adam and scaffold-1, whole vectors, in a box: a plan that can run",
		slices.Concat(adamFields("fedzo-dense"),
			[]field{{9, Uint(1)}, {10, Uint(3)}, {14, Uint(20)}, {53, Uint(1)}})...)
	add("fzoos", "ok", "FZooS, a surrogate with a correction by corollary E.1: a plan that can run",
		slices.Concat(adamFields("fzoos"), []field{
			{5, Uint(300)}, {14, Uint(1)}, {67, Uint(1)}, {68, Uint(10000)}, {70, Float(1)},
			{71, Float(1e-6)}, {72, Uint(1000)}, {74, Uint(5)},
			{75, Uint(5)}, {76, Uint(100)}, {77, Float(0.01)}, {78, Uint(3)}, {80, Float(0.5)}})...)
	add("sign", "ok", "FedZO with the sign at each local step, whole vectors: a plan that can run",
		slices.Concat(adamFields("fedzo-dense"), []field{{9, Uint(1)}, {10, Uint(3)},
			{14, Uint(20)}, {15, Uint(6)}, {16, nil}, {65, nil}, {66, nil}})...)
	s.add("plan-all-80", "ok", "no field is zero: read, though what is set excludes each other",
		recordOf(kindPlan, 1, planMap(all80())).value())
	latePlans(s)
	schedulePlans(s)
	autoPlans(s)

	add("estimator-new", "upgrade", "an unknown estimator", field{67, Uint(2)})
	add("correction-new", "upgrade", "an unknown length of the correction", field{78, Uint(4)})
	add("correction-at-new", "upgrade", "an unknown place of the correction", field{79, Uint(2)})
	add("boxes-empty", "form", "an empty list written out", field{64, Array()})
	add("box-of-three", "form", "a box of three",
		field{64, Array(Array(Float(0), Float(1), Float(2)))})
	add("box-integer", "form", "an integer for an end of a box",
		field{64, Array(Array(Uint(0), Float(1), Float(2)))})
	add("box-nan", "value", "not a number", field{64, Array(box(0, float32(math.NaN())))})
	add("box-inf", "value", "infinite", field{64, Array(box(float32(math.Inf(-1)), 0))})
	add("boxes-bomb", "limit", "2^32-1 boxes", field{64, arrayBomb})
	add("boxes-many", "truncated", "512 boxes in a short record", field{64, Wide(0xdc, 512)})
}

// all80 returns a plan in which none of the fields 1 to 80 is zero.
func all80() []field {
	return merge(all(), []field{
		{63, Uint(16)}, {64, Array(box(-1, 1), box(0, 10))}, {65, Float(0.999)}, {66, Float(1e-8)},
		{67, Uint(1)}, {68, Uint(10000)},
		{70, Float(0.5)}, {71, Float(1e-6)}, {72, Uint(1000)}, {74, Uint(5)},
		{75, Uint(20)}, {76, Uint(100)},
		{77, Float(0.01)}, {78, Uint(3)}, {79, Uint(1)}, {80, Float(0.25)},
	})
}

// uploads returns the vectors of uploads: version, n, tip, weight, loss, size, digest,
// offset, data. Reply: version, n, state, offset, wait.
func uploads() []Vector {
	s := &set{frame: "upload"}
	fields := []Value{Uint(1), Uint(10), Bin(Seq(0xa0, 8)...), Uint(600), Float(2.25), Uint(4100),
		object, Uint(4096), Bin(1, 2, 3, 4)}
	s.add("piece", "ok", "the last 4 of 4100 bytes, to record 10", Array(fields...))
	s.add("whole", "ok", "a vector of two numbers in one piece",
		Array(slices.Concat(fields[:5], []Value{Uint(8), object, Uint(0), Floats(0.5, -1.25)})...))
	s.add("not-finite", "ok", "floats are bits here; a coordinator judges them",
		with(fields, 4, Float(float32(math.NaN()))))
	s.add("no-data", "ok", "a question how far it is", with(fields, 8, Bin()))
	s.common(fields)
	s.add("tip-short", "form", "7 bytes", with(fields, 2, Bin(Seq(0xa0, 7)...)))
	s.add("digest-short", "form", "31 bytes", with(fields, 6, Bin(Seq(0xd0, 31)...)))
	s.add("loss-integer", "form", "an integer for a loss", with(fields, 4, Uint(2)))
	s.add("data-string", "form", "data as a string", with(fields, 8, Str("data")))
	s.add("offset-wide", "form", "32 bits for byte 4096", with(fields, 7, Wide(0xce, 4096)))
	s.add("n-zero", "value", "no record", with(fields, 1, Uint(0)))
	s.add("weight-zero", "value", "no sample", with(fields, 3, Uint(0)))
	s.add("size-zero", "value", "a vector of nothing", with(fields, 5, Uint(0)))
	s.add("size-odd", "value", "4101 bytes are no float32s", with(fields, 5, Uint(4101)))
	s.add("data-beyond", "value", "more bytes than the vector has",
		with(fields, 8, Bin(1, 2, 3, 4, 5)))
	s.add("offset-beyond", "value", "bytes from beyond the vector", with(fields, 7, Uint(5000)))
	s.add("n-over", "limit", "record 2^63", with(fields, 1, Uint(1<<63)))
	s.add("weight-over", "limit", "2^20+1 samples", with(fields, 3, Uint(1<<20+1)))
	s.add("size-over", "limit", "2^24+1 numbers", with(fields, 5, Uint(4<<24+4)))
	s.add("offset-over", "limit", "beyond the largest vector", with(fields, 7, Uint(4<<24+1)))
	s.add("data-long", "limit", "a piece of 61441 bytes, judged by its length",
		with(fields, 8, Wide(0xc5, 61441)))
	s.add("data-bomb", "limit", "2^32-1 bytes", with(fields, 8, binBomb))
	s.add("data-cut", "truncated", "data longer than the frame", with(fields, 8, Wide(0xc4, 40)))
	return slices.Concat(s.list, uploadReplies())
}

func uploadReplies() []Vector {
	s := &set{frame: "upload-reply"}
	fields := []Value{Uint(1), Uint(10), Uint(1), Uint(4096), Uint(0)}
	s.add("more", "ok", "go on with byte 4096", Array(fields...))
	s.add("taken", "ok", "the vector counts", Array(Uint(1), Uint(10), Uint(2), Uint(0), Uint(0)))
	s.add("busy", "ok", "ask again in 2 s", Array(Uint(1), Uint(10), Uint(3), Uint(0), Uint(2000)))
	s.add("refused", "ok", "not wanted", Array(Uint(1), Uint(10), Uint(4), Uint(0), Uint(0)))
	s.common(fields)
	s.add("state-zero", "value", "no state", with(fields, 2, Uint(0)))
	s.add("state-new", "upgrade", "an unknown state", with(fields, 2, Uint(5)))
	s.add("n-over", "limit", "record 2^63", with(fields, 1, Uint(1<<63)))
	s.add("offset-over", "limit", "beyond the largest vector", with(fields, 3, Uint(4<<24+1)))
	s.add("wait-over", "limit", "2^32 milliseconds", with(fields, 4, Uint(1<<32)))
	s.add("wait-float", "form", "a float for milliseconds", with(fields, 4, Float(1)))
	s.add("cut", "truncated", "ends within the offset", Array(fields...)[:5])
	return s.list
}

// objects returns the vectors of objects. Request: version, digest, offset, max bytes.
// Reply: version, size, offset, data.
func objects() []Vector {
	request := &set{frame: "object-request"}
	fields := []Value{Uint(1), object, Uint(4096), Uint(61440)}
	request.add("piece", "ok", "from byte 4096 on", Array(fields...))
	request.common(fields)
	request.add("digest-short", "form", "31 bytes", with(fields, 1, Bin(Seq(0xd0, 31)...)))
	request.add("digest-string", "form", "a digest as a string",
		with(fields, 1, Str(string(Seq(0x20, 32)))))
	request.add("offset-over", "limit", "beyond the largest vector", with(fields, 2, Uint(4<<24+1)))
	request.add("bytes-over", "limit", "2^32 bytes", with(fields, 3, Uint(1<<32)))
	request.add("cut", "truncated", "ends within the digest", Array(fields...)[:20])

	s := &set{frame: "object-reply"}
	fields = []Value{Uint(1), Uint(4100), Uint(4096), Bin(1, 2, 3, 4)}
	s.add("piece", "ok", "the last 4 of 4100 bytes", Array(fields...))
	s.add("none", "ok", "no such vector", Array(Uint(1), Uint(0), Uint(0), Bin()))
	s.common(fields)
	s.add("size-over", "limit", "2^24+1 numbers", with(fields, 1, Uint(4<<24+4)))
	s.add("offset-over", "limit", "beyond the largest vector", with(fields, 2, Uint(4<<24+1)))
	s.add("data-beyond", "value", "more bytes than the vector has",
		with(fields, 3, Bin(1, 2, 3, 4, 5)))
	s.add("offset-beyond", "value", "bytes from beyond the vector", with(fields, 2, Uint(5000)))
	s.add("data-bomb", "limit", "2^32-1 bytes", with(fields, 3, binBomb))
	s.add("data-cut", "truncated", "data longer than the frame", with(fields, 3, Wide(0xc4, 40)))
	s.add("data-string", "form", "data as a string", with(fields, 3, Str("data")))
	return append(request.list, s.list...)
}
