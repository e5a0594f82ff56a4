package engine

import (
	"encoding/binary"

	"github.com/zofl/zofl/wire"
)

// Some policies know what no record holds, such as the trend of the step. The core hands their
// knowledge to the log with each record, and the next coordinator begins with the knowledge of the
// log's last record. So it makes the records that this coordinator would have made.
//
// A handover is a list of parts: the kind of the knowledge, one byte; the length of the part, as a
// varint; the part. A coordinator skips parts of unknown kinds.

// handOver emits what the policies will know, for the record that is handed to the log next.
func (c *Core) handOver() {
	r, err := wire.DecodeRecord(c.next.frame)
	if err != nil {
		panic("coordinator: internal error: " + err.Error())
	}
	var state []byte
	for _, k := range c.policy.Knows {
		part := k.Append(nil, r.Kind)
		state = binary.AppendUvarint(append(state, k.Kind()), uint64(len(part)))
		state = append(state, part...)
	}
	c.emit(Output{Kind: OutHandOver, Frame: state})
}

// takeOver makes the policies know what another coordinator handed over, and nothing else.
func (c *Core) takeOver(state []byte) {
	for _, k := range c.policy.Knows {
		k.Read(partOf(state, k.Kind()))
	}
}

// partOf returns the part of a kind, or nil if a handover has none.
func partOf(state []byte, kind uint8) []byte {
	for len(state) > 0 {
		size, n := binary.Uvarint(state[1:])
		if n <= 0 || size > uint64(len(state)-1-n) {
			return nil
		}
		part, rest := state[1+n:1+n+int(size)], state[1+n+int(size):]
		if state[0] == kind {
			return part
		}
		state = rest
	}
	return nil
}
