package grouping

import (
	"encoding/binary"
	"math"
)

// The first byte of what Append writes is the sum of these.
const (
	hasChosen = 1 << iota
	hasOwn
)

// mostRounds bounds the numbers of rounds that Read accepts.
const mostRounds = 1 << 31

// Append appends to b what the next coordinator needs to go on with groups=auto.
func (c *Chooser) Append(b []byte) []byte {
	k, flags := &c.contrast, byte(0)
	if k.chosen {
		flags |= hasChosen
	}
	if k.own {
		flags |= hasOwn
	}
	b = binary.AppendUvarint(append(b, flags), uint64(k.apart))
	b = binary.AppendUvarint(b, uint64(k.rounds))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(k.common))
}

// Read replaces what c knows for groups=auto by what Append wrote. Read returns false, and forgets
// everything, if Append cannot have written b.
func (c *Chooser) Read(b []byte) bool {
	c.contrast = contrast{}
	if len(b) == 0 {
		return true
	}
	k := contrast{chosen: b[0]&hasChosen > 0, own: b[0]&hasOwn > 0}
	apart, n := binary.Uvarint(b[1:])
	if n <= 0 || apart >= mostRounds {
		return false
	}
	rest := b[1+n:]
	rounds, n := binary.Uvarint(rest)
	if n <= 0 || rounds >= mostRounds || len(rest) != n+8 {
		return false
	}
	k.apart, k.rounds = int(apart), int(rounds)
	k.common = math.Float64frombits(binary.LittleEndian.Uint64(rest[n:]))
	if k.common-k.common != 0 {
		return false // no number
	}
	c.contrast = k
	return true
}
