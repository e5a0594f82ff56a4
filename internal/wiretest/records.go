package wiretest

import "math"

// Kinds of records.
const (
	kindPlan = iota + 1
	kindRound
	kindChange
	kindRollback
	kindEnd
)

// A record has six fields, any of which may be wrong.
type record struct{ version, kind, n, prev, epoch, body Value }

func (r record) value() Value {
	return Array(r.version, r.kind, r.n, r.prev, r.epoch, r.body)
}

// recordOf returns record n of a kind with a body.
func recordOf(kind, n uint64, body Value) record {
	return record{Uint(1), Uint(kind), Uint(n), Bin(Seq(0, 16)...), Uint(3), body}
}

// end returns the shortest possible record.
func end() record { return recordOf(kindEnd, 9, Map(Uint(1), Uint(1))) }

// endWith returns an end with one thing changed.
func endWith(change func(*record)) Value {
	r := end()
	change(&r)
	return r.value()
}

// records has the faults that every kind of record shares.
func records() []Vector {
	s := &set{frame: "record"}
	s.add("end", "ok", "the end of a run, somebody's wish, no text", end().value())
	s.add("n-largest", "ok", "the largest index and epoch, 2^63-1",
		endWith(func(r *record) { r.n, r.epoch = Uint(math.MaxInt64), Uint(math.MaxInt64) }))

	s.add("empty", "truncated", "no bytes", nil)
	s.add("truncated-prev", "truncated", "ends within prev", end().value()[:12])
	s.add("truncated-body", "truncated", "ends before the body", end().value()[:23])
	s.add("truncated-value", "truncated", "ends within the body, before the value of its key",
		end().value()[:25])

	s.add("map", "form", "a map in place of the array", Map(Uint(1), Uint(1)))
	s.add("head-wide", "form", "16-bit array head for 6 fields",
		append(Wide(0xdc, 6), end().value()[1:]...))
	s.add("fields-none", "form", "an array of nothing", Array())
	s.add("fields-five", "form", "no body", append(Value{0x95}, end().value()[1:23]...))
	s.add("fields-seven", "form", "a field more than version 1 has",
		append(Value{0x97}, append(end().value()[1:], 0)...))
	s.add("trailing", "form", "a byte after the record", append(end().value(), 0))
	s.each("form", "not the form that the field has", map[string]func(*record){
		"version-wide":  func(r *record) { r.version = Wide(0xcc, 1) },
		"n-8-bit-wide":  func(r *record) { r.n = Wide(0xcc, 127) },
		"n-16-bit-wide": func(r *record) { r.n = Wide(0xcd, 255) },
		"n-32-bit-wide": func(r *record) { r.n = Wide(0xce, 65535) },
		"n-64-bit-wide": func(r *record) { r.n = Wide(0xcf, math.MaxUint32) },
		"n-negative":    func(r *record) { r.n = Value{0xff} },
		"n-signed":      func(r *record) { r.n = Value{0xd0, 9} },
		"n-float":       func(r *record) { r.n = Float(9) },
		"n-nil":         func(r *record) { r.n = Value{0xc0} },
		"prev-short":    func(r *record) { r.prev = Bin(Seq(0, 15)...) },
		"prev-long":     func(r *record) { r.prev = Bin(Seq(0, 17)...) },
		"prev-wide":     func(r *record) { r.prev = append(Wide(0xc5, 16), Seq(0, 16)...) },
		"prev-string":   func(r *record) { r.prev = Str(string(Seq(0, 16))) },
		"body-array":    func(r *record) { r.body = Array(Uint(1)) },
		"body-wide":     func(r *record) { r.body = append(Wide(0xde, 1), 1, 1) },
		"key-zero":      func(r *record) { r.body = Map(Uint(0), Uint(1), Uint(1), Uint(1)) },
		"key-repeated":  func(r *record) { r.body = Map(Uint(1), Uint(1), Uint(1), Uint(1)) },
		"key-string":    func(r *record) { r.body = Map(Str("reason"), Uint(1)) },
	})
	s.each("limit", "over the limit", map[string]func(*record){
		"n-over":     func(r *record) { r.n = Uint(1 << 63) },
		"epoch-over": func(r *record) { r.epoch = Uint(1 << 63) },
		"kind-over":  func(r *record) { r.kind = Uint(256) },
		"prev-bomb":  func(r *record) { r.prev = binBomb },
		"body-bomb":  func(r *record) { r.body = mapBomb },
	})
	s.add("bomb", "limit", "an array of 2^32-1 fields in 7 bytes",
		append(append(Value{}, arrayBomb...), 1, 1))

	s.each("value", "not a value that the field can have", map[string]func(*record){
		"n-zero":       func(r *record) { r.n = Uint(0) },
		"n-not-plan":   func(r *record) { r.n = Uint(1) },
		"plan-later":   func(r *record) { *r = recordOf(kindPlan, 2, smallPlan()) },
		"kind-nothing": func(r *record) { r.kind = Uint(0) },
	})
	s.each("upgrade", "of a later version", map[string]func(*record){
		"version-2": func(r *record) { r.version = Uint(2) },
		"version-0": func(r *record) { r.version = Uint(0) },
		"kind-6":    func(r *record) { r.kind = Uint(6) },
		"key-new":   func(r *record) { r.body = Map(Uint(1), Uint(1), Uint(3), Uint(1)) },
	})
	s.add("version-2-longer", "upgrade",
		"a later version with a field more: the version is judged first",
		append(Value{0x97, 2}, append(end().value()[2:], 0)...))
	return s.list
}

// each adds ends that differ in one thing.
func (s *set) each(expect, comment string, changes map[string]func(*record)) {
	for _, name := range sorted(changes) {
		s.add(name, expect, comment, endWith(changes[name]))
	}
}
