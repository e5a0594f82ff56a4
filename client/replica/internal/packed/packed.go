// Package packed writes and reads the numbers and byte strings of a state file's head,
// little-endian.
package packed

import "encoding/binary"

// A Reader reads a buffer from its start; Left is the part not read yet. When the bytes run out,
// the Reader sets Short and from then on reads zeros.
type Reader struct {
	Left  []byte
	Short bool
}

// Take reads n bytes, which alias Left.
func (r *Reader) Take(n int) []byte {
	if r.Short = r.Short || n > len(r.Left); r.Short {
		return nil
	}
	p := r.Left[:n]
	r.Left = r.Left[n:]
	return p
}

// Uint64 reads 8 bytes.
func (r *Reader) Uint64() uint64 {
	if p := r.Take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// Uint32 reads 4 bytes.
func (r *Reader) Uint32() uint32 {
	if p := r.Take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// Count reads a number of elements, LE32, of size bytes each. Count returns 0 and sets r.Short if
// the number exceeds most or if elements are missing.
func (r *Reader) Count(most, size int) int {
	n := r.Uint32()
	if r.Short = r.Short || uint64(n) > uint64(min(most, len(r.Left)/size)); r.Short {
		return 0
	}
	return int(n)
}

// Bytes reads a byte string: LE32 of its length, at most most, and its bytes, which alias Left.
func (r *Reader) Bytes(most int) []byte { return r.Take(r.Count(most, 1)) }

// Words reads the words that digest.AppendWords wrote. Words returns nil if the list is empty.
func (r *Reader) Words() []uint64 {
	n := r.Count(len(r.Left), 8)
	if n == 0 {
		return nil
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = r.Uint64()
	}
	return list
}

// AppendBytes appends LE32 of the length of p, and p.
func AppendBytes(b, p []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(p))), p...)
}
