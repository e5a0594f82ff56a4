package simulate

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// readEvents reads the event file in a directory: the scalars, by tag and step.
func readEvents(t *testing.T, dir string) map[string]map[uint64]float32 {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(escaped(dir), "*tfevents*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("files %v in %s, %v", names, dir, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	scalars := make(map[string]map[uint64]float32)
	for len(b) > 0 {
		size := binary.LittleEndian.Uint64(b)
		data := b[12 : 12+size]
		for _, sum := range []struct{ of, at []byte }{{b[:8], b[8:12]}, {data, b[12+size:]}} {
			masked := binary.LittleEndian.Uint32(sum.at) - 0xa282ead8
			if crc := masked<<15 | masked>>17; crc != crc32.Checksum(sum.of,
				crc32.MakeTable(crc32.Castagnoli)) {
				t.Fatalf("%s: a wrong checksum", names[0])
			}
		}
		readEvent(t, data, scalars)
		b = b[16+size:]
	}
	return scalars
}

func readEvent(t *testing.T, data []byte, scalars map[string]map[uint64]float32) {
	step := uint64(0)
	fields(t, data, func(field protowire.Number, number uint64, bytes []byte) {
		switch field {
		case 2:
			step = number
		case 5:
			fields(t, bytes, func(_ protowire.Number, _ uint64, value []byte) {
				tag, v := "", float32(0)
				fields(t, value, func(field protowire.Number, number uint64, bytes []byte) {
					if field == 1 {
						tag = string(bytes)
					} else {
						v = math.Float32frombits(uint32(number))
					}
				})
				if scalars[tag] == nil {
					scalars[tag] = make(map[uint64]float32)
				}
				scalars[tag][step] = v
			})
		}
	})
}

// fields calls f for each field of a message.
func fields(t *testing.T, b []byte, f func(field protowire.Number, number uint64, bytes []byte)) {
	t.Helper()
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		b = b[max(n, 0):]
		var number uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			number = uint64(v)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(b)
		}
		if n <= 0 {
			t.Fatalf("a field %d of type %d that does not end", field, kind)
		}
		b = b[n:]
		f(field, number, bytes)
	}
}
