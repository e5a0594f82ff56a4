package probe

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/zofl/zofl/wire"
)

// This file encodes numbers by type switch. binary.Write and binary.Read, which use
// reflection, would add 30 kB to a device's program (go build -trimpath -ldflags "-s -w",
// for linux/amd64).

// floatsAtOnce is how many floats put and get encode together.
const floatsAtOnce = 4096

// put writes numbers, or slices of them, little-endian. put ignores errors: a bufio.Writer keeps
// its first error.
func put(to io.Writer, numbers ...any) {
	var b []byte
	for _, v := range numbers {
		b = b[:0]
		switch v := v.(type) {
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, v)
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, v)
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case []float32:
			for part := range slices.Chunk(v, floatsAtOnce) {
				b = wire.AppendScalars(b[:0], part...)
				to.Write(b)
			}
			continue
		default:
			panic(fmt.Sprintf("probe: internal error: put of %T", v))
		}
		to.Write(b)
	}
}

// get reads what put wrote into the pointers and slices in numbers.
func get(from io.Reader, numbers ...any) (err error) {
	for _, v := range numbers {
		switch v := v.(type) {
		case *uint32:
			var b [4]byte
			_, err = io.ReadFull(from, b[:])
			*v = binary.LittleEndian.Uint32(b[:])
		case *uint64:
			*v, err = getWord(from)
		case *float64:
			var bits uint64
			bits, err = getWord(from)
			*v = math.Float64frombits(bits)
		case []float32:
			err = getFloats(from, v)
		default:
			panic(fmt.Sprintf("probe: internal error: get of %T", v))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func getWord(from io.Reader) (uint64, error) {
	var b [8]byte
	_, err := io.ReadFull(from, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

func getFloats(from io.Reader, v []float32) error {
	b := make(wire.Scalars, 4*min(len(v), floatsAtOnce))
	for part := range slices.Chunk(v, floatsAtOnce) {
		b = b[:4*len(part)]
		if _, err := io.ReadFull(from, b); err != nil {
			return err
		}
		for i := range part {
			part[i] = b.At(i)
		}
	}
	return nil
}
