package cma

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/wire"
)

// Kind implements [policy.Knowledge].
func (l *Lead) Kind() uint8 { return 4 }

// Append implements [policy.Knowledge]: a byte for the stage, then numbers.
func (l *Lead) Append(b []byte, next wire.RecordKind) []byte {
	k := l.after(next)
	if k == (known{}) {
		return b
	}
	b = append(b, byte(k.stage))
	for _, v := range k.numbers() {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(*v))
	}
	return b
}

// Read implements [policy.Knowledge].
func (l *Lead) Read(b []byte) (ok bool) {
	l.known, l.asked = known{}, false
	if len(b) == 0 {
		return true
	}
	var k known
	numbers := k.numbers()
	if len(b) != 1+8*len(numbers) || b[0] > byte(returned) {
		return false
	}
	k.stage = stage(b[0])
	for i, v := range numbers {
		*v = math.Float64frombits(binary.LittleEndian.Uint64(b[1+8*i:]))
		if math.IsNaN(*v) {
			return false
		}
	}
	l.known = k
	return true
}

// numbers lists what a coordinator hands over besides the stage.
func (k *known) numbers() []*float64 {
	n, v := &k.noise, &k.level
	return []*float64{
		&n.lambda, &n.e, &n.s, &n.rounds, &n.drowned,
		&v.low, &v.high, &v.records, &v.spread, &v.widest, &v.zeros,
		&k.bend.Curve, &k.bend.Doubt, &k.wider,
		&k.restarts, &k.spent, &k.best, &k.bestAt, &k.bestIn, &k.from, &k.over,
	}
}
