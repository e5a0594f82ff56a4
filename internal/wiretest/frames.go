package wiretest

import (
	"math"
	"slices"
	"strings"
)

// with returns fields with field i replaced, as an array.
func with(fields []Value, i int, v Value) Value {
	fields = slices.Clone(fields)
	fields[i] = v
	return Array(fields...)
}

// common adds the faults that every frame but a record can have, and fields of a later
// version.
func (s *set) common(fields []Value) {
	frame := Array(fields...)
	s.add("rest", "ok", "fields of a later version after those of this one",
		slices.Concat(frame, Str("later"), Uint(7)))
	s.add("empty", "truncated", "no bytes", nil)
	s.add("map", "form", "a map in place of the array", Map(Uint(1), Uint(1)))
	s.add("fields-none", "form", "an array of nothing", Array())
	s.add("fields-more", "form", "what later versions add comes after the array, not in it",
		Array(append(slices.Clone(fields), Uint(7))...))
	s.add("version-2", "upgrade", "another version", with(fields, 0, Uint(2)))
	s.add("version-2-more", "upgrade",
		"another version with a field more: the version is judged first",
		Array(append(append([]Value{Uint(2)}, fields[1:]...), Uint(7))...))
	s.add("version-wide", "form", "8 bits for version 1", with(fields, 0, Wide(0xcc, 1)))
	s.add("bomb", "limit", "an array of 2^32-1 fields in 7 bytes",
		append(append(Value{}, arrayBomb...), 1, 1))
}

// announcements returns the vectors of announcements: version, state, n, attempt, epoch,
// left, sampled, members, step, perturbations, reason, records.
func announcements() []Vector {
	s := &set{frame: "announcement"}
	last := round9(Uint(3), Float(1e-3), Uint(7), Array(term(0, 0, 0.5)))
	fields := []Value{Uint(1), Uint(0), Uint(10), Uint(1), Uint(3), Uint(29500), Uint(12),
		Uint(100),
		Float(1e-3), Uint(10), Str(""), Array(Bin(last...))}
	s.add("open", "ok", "record 10 is open: 12 of 100 devices, 29.5 s left, record 9 within",
		Array(fields...))
	s.add("two-records", "ok", "two records",
		with(fields, 11, Array(Bin(end().value()...), Bin(last...))))
	s.add("first", "ok", "record 1 is open: no records yet",
		Array(Uint(1), Uint(0), Uint(1), Uint(0), Uint(0), Uint(0), Uint(0),
			Uint(0), Float(0), Uint(0), Str(""), Array()))
	s.add("paused", "ok", "paused, and why",
		Array(Uint(1), Uint(1), Uint(10), Uint(2), Uint(3), Uint(0), Uint(0), Uint(0),
			Float(0), Uint(0), Str("3 attempts without a quorum of 5"), Array(Bin(last...))))
	s.add("ended", "ok", "ended, with the end",
		Array(Uint(1), Uint(2), Uint(10), Uint(0), Uint(3), Uint(0), Uint(0), Uint(0),
			Float(0), Uint(0), Str(""), Array(Bin(end().value()...))))
	s.add("everybody", "ok", "an open roster, everybody asked",
		Array(Uint(1), Uint(0), Uint(10), Uint(0), Uint(3), Uint(1),
			Uint(1<<32), Uint(0), Float(1e-3), Uint(10), Str(""), Array(Bin(last...))))
	s.common(fields)
	reference := Array(Uint(64), Bin(Seq(0xa0, 8)...), Bin(Seq(0xb0, 8)...))
	s.add("reference", "ok", "the digest of the state after record 64, as the run has it",
		slices.Concat(Array(fields...), reference))
	s.add("reference-rest", "ok", "the same, and fields of a later version",
		slices.Concat(Array(fields...), reference, Uint(7)))
	asks := slices.Clone(fields)
	asks[8], asks[9] = Float(0), Uint(0)
	s.add("survey", "ok", "asks for losses at distances of mu in place of scalars",
		slices.Concat(Array(asks...), Array(), Array(), Array(Uint(2))))
	s.add("survey-reference", "ok", "the same, with a reference and the slots 0 and 5",
		slices.Concat(Array(asks...), reference, Array(Bin(0, 4)), Array(Uint(2))))
	s.add("state-new", "upgrade", "an unknown state", with(fields, 1, Uint(3)))
	s.add("n-zero", "value", "no record", with(fields, 2, Uint(0)))
	s.add("step-nan", "value", "not a number", with(fields, 8, Float(float32(math.NaN()))))
	s.add("reason-utf8", "value", "not UTF-8", with(fields, 10, Str("\xf0\x28\x8c\x28")))
	s.add("reason-long", "limit", "257 bytes", with(fields, 10, Str(strings.Repeat("x", 257))))
	s.add("left-over", "limit", "2^32 milliseconds", with(fields, 5, Uint(1<<32)))
	s.add("sampled-over", "limit", "above the threshold of everybody",
		with(fields, 6, Uint(1<<32+1)))
	s.add("members-over", "limit", "2^24+1 members", with(fields, 7, Uint(1<<24+1)))
	s.add("records-bomb", "limit", "2^32-1 records", with(fields, 11, arrayBomb))
	s.add("record-bomb", "limit", "a record of 2^32-1 bytes", with(fields, 11, Array(binBomb)))
	s.add("records-many", "truncated", "30000 records in no bytes",
		with(fields, 11, Wide(0xdc, 30000)))
	s.add("record-cut", "truncated", "a record longer than the frame",
		with(fields, 11, Array(Wide(0xc4, 40))))
	s.add("record-string", "form", "a record as a string", with(fields, 11, Array(Str("record"))))
	s.add("record-wide", "form", "16-bit length for a short record",
		with(fields, 11, Array(append(Wide(0xc5, 25), end().value()...))))
	return s.list
}

// replies returns the vectors of replies: version, kind, n, tip, then the fields of the
// kind.
func replies() []Vector {
	s := &set{frame: "reply"}
	tip := Bin(Seq(0xa0, 8)...)
	contribution := []Value{Uint(1), Uint(1), Uint(10), tip, Uint(600), Float(2.25),
		Floats(scalars10...)}
	evaluation := []Value{Uint(1), Uint(2), Uint(50), tip, Uint(10000), Floats(0.25, 0.93)}
	decline := []Value{Uint(1), Uint(3), Uint(10), tip, Uint(2)}
	digest := []Value{Uint(1), Uint(4), Uint(64), tip, Bin(Seq(0xb0, 8)...)}
	s.add("contribution", "ok", "the scalars of K = 1 and P = 10: what most replies are",
		Array(contribution...))
	s.add("contribution-not-finite", "ok", "floats are bits here; a coordinator judges them",
		Array(Uint(1), Uint(1), Uint(10), tip, Uint(1), Float(float32(math.NaN())),
			Floats(float32(math.Inf(1)))))
	s.add("contribution-empty", "ok", "no scalars: a coordinator judges their number",
		with(contribution, 6, Floats()))
	s.add("contribution-large", "ok", "300 scalars and wide integers",
		Array(Uint(1), Uint(1), Uint(1<<40), tip, Uint(1<<20), Float(2.25),
			Floats(make([]float32, 300)...)))
	s.add("contribution-half", "ok", "the same scalars in half precision",
		with(contribution, 6, halves10))
	s.add("contribution-int4", "ok", "five scalars of 4 bits", with(contribution, 6, nibbles5))
	s.add("contribution-int2", "ok", "four blocks of one scalar of 2 bits, of 0",
		with(contribution, 6, Bin(make([]byte, 16)...)))
	control := slices.Concat(Array(contribution...), Array(Uint(7), Floats(1, 2)))
	s.add("contribution-control", "ok", "and then a control variate: two scalars along record 7",
		control)
	s.add("contribution-control-rest", "ok", "the same, and fields of a later version",
		slices.Concat(control, Uint(7)))
	s.add("contribution-survey", "ok", "ten numbers that answer a survey of kind 2",
		slices.Concat(Array(contribution...), Array(), Array(Uint(2))))
	s.add("contribution-slope", "ok", "the scalars, and the slope along the averaged move",
		slices.Concat(Array(contribution...), Array(), Array(Uint(0), Float(-0.5))))
	s.add("evaluation", "ok", "two metrics over 10000 samples", Array(evaluation...))
	s.add("decline", "ok", "no time", Array(decline...))
	s.add("decline-new", "ok", "a reason of a later version is only a number",
		with(decline, 4, Uint(200)))
	s.add("digest", "ok", "digest after record 64", Array(digest...))
	s.common(contribution)
	s.add("tip-short", "form", "7 bytes", with(contribution, 3, Bin(Seq(0xa0, 7)...)))
	s.add("n-wide", "form", "16 bits for record 10", with(contribution, 2, Wide(0xcd, 10)))
	s.add("scalars-odd", "form", "5 bytes", with(contribution, 6, Bin(1, 2, 3, 4, 5)))
	s.add("scalars-wide", "form", "16-bit length for 4 bytes",
		with(contribution, 6, append(Wide(0xc5, 4), 1, 2, 3, 4)))
	s.add("decline-of-seven", "form", "the number of fields of a contribution",
		Array(append(slices.Clone(decline), Uint(1), Uint(1))...))
	s.add("digest-long", "form", "9 bytes", with(digest, 4, Bin(Seq(0, 9)...)))
	s.add("n-zero", "value", "no record", with(contribution, 2, Uint(0)))
	s.add("kind-nothing", "value", "kind 0", with(decline, 1, Uint(0)))
	s.add("weight-zero", "value", "no sample", with(contribution, 4, Uint(0)))
	s.add("reason-zero", "value", "no reason", with(decline, 4, Uint(0)))
	s.add("weight-over", "limit", "2^20+1 samples", with(contribution, 4, Uint(1<<20+1)))
	s.add("n-over", "limit", "record 2^63", with(contribution, 2, Uint(1<<63)))
	s.add("scalars-bomb", "limit", "2^32-1 bytes of scalars", with(contribution, 6, binBomb))
	s.add("metrics-half", "form", "6 bytes: metrics are never of half precision",
		with(evaluation, 5, Halves(1, 2, 3)))
	s.add("metrics-many", "limit", "17 metrics",
		with(evaluation, 5, Floats(make([]float32, 17)...)))
	s.add("scalars-cut", "truncated", "48 bytes announced, 4 there",
		with(contribution, 6, append(Wide(0xc4, 48), 1, 2, 3, 4)))
	s.add("tip-cut", "truncated", "ends within the tip", Array(contribution...)[:9])
	s.add("kind-new", "upgrade", "an unknown kind", with(decline, 1, Uint(5)))
	return s.list
}

// openHead is the announcement of a round without its records.
func openHead() Value {
	return Array(Uint(1), Uint(0), Uint(10), Uint(1), Uint(3), Uint(29500), Uint(12), Uint(100),
		Float(1e-3), Uint(10), Str(""), Array())
}

// joins returns the vectors of joins. Request: version. Reply: version, status, slot,
// last, plan, reason, announcement.
func joins() []Vector {
	request := &set{frame: "join-request"}
	request.add("least", "ok", "all that this version has", Array(Uint(1)))
	request.common([]Value{Uint(1)})

	s := &set{frame: "join-reply"}
	plan := recordOf(kindPlan, 1, smallPlan()).value()
	fields := []Value{Uint(1), Uint(0), Uint(41), Uint(9), Bin(plan...), Str(""),
		Bin(openHead()...)}
	s.add("member", "ok", "slot 41, with the plan", Array(fields...))
	s.add("full", "ok", "refused: no slot is free",
		Array(Uint(1), Uint(1), Uint(0), Uint(9), Bin(), Str("all 100 slots are taken"), Bin()))
	s.add("status-new", "ok", "a status of a later version is a refusal",
		Array(Uint(1), Uint(200), Uint(0), Uint(9), Bin(), Str("no"), Bin()))
	s.common(fields)
	s.add("slot-over", "limit", "slot 2^24", with(fields, 2, Uint(1<<24)))
	s.add("status-over", "limit", "status 256", with(fields, 1, Uint(256)))
	s.add("plan-bomb", "limit", "a plan of 2^32-1 bytes", with(fields, 4, binBomb))
	s.add("plan-cut", "truncated", "a plan longer than the frame",
		with(fields, 4, Wide(0xc5, 4000)))
	s.add("plan-string", "form", "a plan as a string", with(fields, 4, Str("plan")))
	s.add("reason-long", "limit", "257 bytes", with(fields, 5, Str(strings.Repeat("x", 257))))
	s.add("reason-utf8", "value", "not UTF-8", with(fields, 5, Str("\xff")))
	s.add("announcement-none", "ok", "nothing was announced yet", with(fields, 6, Bin()))
	s.add("announcement-bomb", "limit", "an announcement of 2^32-1 bytes", with(fields, 6, binBomb))
	s.add("announcement-long", "limit", "an announcement of 1025 bytes",
		with(fields, 6, Bin(make([]byte, 1025)...)))
	return append(request.list, s.list...)
}

// catchUps returns the vectors of catch-ups. Request: version, from, max bytes. Reply:
// version, from, last, records.
func catchUps() []Vector {
	request := &set{frame: "catch-up-request"}
	fields := []Value{Uint(1), Uint(5), Uint(65536)}
	request.add("from-5", "ok", "records from 5 on, 64 KiB of them", Array(fields...))
	request.common(fields)
	request.add("from-zero", "value", "no record", with(fields, 1, Uint(0)))
	request.add("from-over", "limit", "record 2^63", with(fields, 1, Uint(1<<63)))
	request.add("bytes-over", "limit", "2^32 bytes", with(fields, 2, Uint(1<<32)))
	request.add("cut", "truncated", "no number of bytes", Array(fields...)[:3])

	s := &set{frame: "catch-up-reply"}
	round := round9(Uint(3), Float(1e-3), Uint(7), Array(term(0, 0, 0.5)))
	fields = []Value{Uint(1), Uint(9), Uint(12), Array(Bin(round...))}
	s.add("one", "ok", "record 9 of 12", Array(fields...))
	s.add("none", "ok", "the log ends before the record asked for",
		Array(Uint(1), Uint(13), Uint(12), Array()))
	s.common(fields)
	s.add("from-zero", "value", "no record", with(fields, 1, Uint(0)))
	s.add("last-over", "limit", "record 2^63", with(fields, 2, Uint(1<<63)))
	s.add("records-bomb", "limit", "2^32-1 records", with(fields, 3, arrayBomb))
	s.add("records-many", "truncated", "30000 records in no bytes",
		with(fields, 3, Wide(0xdc, 30000)))
	s.add("records-map", "form", "records as a map", with(fields, 3, Map()))
	return append(request.list, s.list...)
}

// snapshots returns the vectors of snapshots. Request: version, n, offset, max bytes.
// Reply: version, n, tip, size, offset, data.
func snapshots() []Vector {
	request := &set{frame: "snapshot-request"}
	fields := []Value{Uint(1), Uint(64), Uint(4096), Uint(65536)}
	request.add("piece", "ok", "the snapshot of record 64, from byte 4096 on", Array(fields...))
	request.add("newest", "ok", "what there is", Array(Uint(1), Uint(0), Uint(0), Uint(0)))
	request.common(fields)
	request.add("n-over", "limit", "record 2^63", with(fields, 1, Uint(1<<63)))
	request.add("offset-over", "limit", "byte 2^63", with(fields, 2, Uint(1<<63)))
	request.add("bytes-over", "limit", "2^32 bytes", with(fields, 3, Uint(1<<32)))

	s := &set{frame: "snapshot-reply"}
	fields = []Value{Uint(1), Uint(64), Bin(Seq(0xa0, 8)...), Uint(4100), Uint(4096),
		Bin(1, 2, 3, 4)}
	s.add("piece", "ok", "the last 4 bytes", Array(fields...))
	s.add("offer", "ok", "what there is, without bytes",
		Array(fields[0], fields[1], fields[2], fields[3], Uint(0), Bin()))
	s.add("none", "ok", "no snapshot",
		Array(Uint(1), Uint(0), Bin(make([]byte, 8)...), Uint(0), Uint(0), Bin()))
	s.common(fields)
	s.add("tip-short", "form", "7 bytes", with(fields, 2, Bin(Seq(0xa0, 7)...)))
	s.add("size-over", "limit", "2^63 bytes", with(fields, 3, Uint(1<<63)))
	s.add("data-beyond", "value", "more bytes than the file has",
		with(fields, 5, Bin(1, 2, 3, 4, 5)))
	s.add("offset-beyond", "value", "bytes from beyond the file", with(fields, 4, Uint(5000)))
	s.add("data-bomb", "limit", "2^32-1 bytes", with(fields, 5, binBomb))
	s.add("data-cut", "truncated", "data longer than the frame", with(fields, 5, Wide(0xc4, 40)))
	s.add("data-string", "form", "data as a string", with(fields, 5, Str("data")))
	return append(request.list, s.list...)
}
