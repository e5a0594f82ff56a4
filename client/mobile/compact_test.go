package mobile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
)

// TestHalves compares with bits from the definition of binary16: ties to even, subnormals, the
// largest number, and numbers that become infinite.
func TestHalves(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{0, float32(math.Copysign(0, -1)), 1, -2, 65504, 65519, 65520, -inf, 0x1p-24,
		0x1p-25, 0x1.8p-25, 1 + 0x1p-11, 1 + 0x3p-11, 1. / 3, float32(math.NaN())}
	want := []uint16{0, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x7bff, 0x7c00, 0xfc00, 1,
		0, 1, 0x3c00, 0x3c02, 0x3555, 0x7e00}
	dst := make([]byte, 2*len(x))
	n, err := (&Model{x: x}).ReadHalf(0, dst)
	if n != len(x) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for i, h := range want {
		if got := binary.LittleEndian.Uint16(dst[2*i:]); got != h {
			t.Errorf("%v is %04x, want %04x", x[i], got, h)
		}
	}
}

// ReadInt8 rounds multiples of the scale, ties to even, and limits them to -127..127.
func TestInt8s(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{0, 1, -1, 0.24, 0.26, 0.25, 0.75, -0.25, -0.75, 63.5, 63.74, 64, -63.5, -64,
		math.MaxFloat32, -inf, inf, float32(math.NaN())}
	want := []int8{0, 2, -2, 0, 1, 0, 2, 0, -2, 127, 127, 127, -127, -127, 127, -127, 127, 0}
	dst := make([]byte, len(x))
	n, err := (&Model{x: x}).ReadInt8(0, 0.5, dst)
	if n != len(x) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for i, q := range want {
		if got := int8(dst[i]); got != q {
			t.Errorf("%v/0.5 is %d, want %d", x[i], got, q)
		}
	}
	dst = make([]byte, 1)
	for _, scale := range []float64{math.SmallestNonzeroFloat64, math.MaxFloat64} {
		want := map[bool]int8{true: 127, false: 0}[scale < 1]
		if _, err := (&Model{x: []float32{3}}).ReadInt8(0, scale, dst); err != nil ||
			int8(dst[0]) != want {
			t.Errorf("3/%v is %d, %v, want %d", scale, int8(dst[0]), err, want)
		}
	}
}

// Reads return as many parameters as fit and exist, from any offset, and change no byte after them.
// After the first block, the blocks of a read begin at multiples of the library's block length.
func TestReadConverted(t *testing.T) {
	const dim = 2*block + 5
	x := numbers(dim)
	starts := []int{}
	read := func(to []float32, off int) error {
		starts = append(starts, off)
		copy(to, x[off:])
		return nil
	}
	whole := make([]byte, halfBytes*dim)
	halves.put(whole, x)
	for _, off := range []int{0, 1, block - 1, block, 2 * block, dim - 1, dim} {
		for _, count := range []int{0, 1, 3, block, block + 1, dim, dim + 2} {
			t.Run(fmt.Sprintf("%d from %d", count, off), func(t *testing.T) {
				dst := bytes.Repeat([]byte{7}, halfBytes*count)
				want := bytes.Clone(dst)
				starts = nil
				n, err := halves.read(dst, off, dim, read)
				copy(want, whole[halfBytes*off:])
				if n != min(count, dim-off) || err != nil || !bytes.Equal(dst, want) {
					t.Errorf("%d, %v, or other bytes than those of the whole", n, err)
				}
				for i, at := range starts {
					if i > 0 && at%block != 0 {
						t.Errorf("blocks begin at %v", starts)
					}
				}
			})
		}
	}
	broken := errors.New("broken")
	n, err := halves.read(whole, 0, dim, func([]float32, int) error { return broken })
	if n != 0 || err != broken {
		t.Errorf("%d, %v, want the source's error", n, err)
	}
}

// A compact is an object whose parameters the app can read in fewer bits.
type compact interface {
	ReadHalf(off int, dst []byte) (int, error)
	ReadInt8(off int, scale float64, dst []byte) (int, error)
}

// probe1 is the second probe of some.
type probe1 struct{ *Probes }

func (p probe1) ReadHalf(off int, dst []byte) (int, error) { return p.Probes.ReadHalf(1, off, dst) }
func (p probe1) ReadInt8(off int, scale float64, dst []byte) (int, error) {
	return p.Probes.ReadInt8(1, off, scale, dst)
}

// compacts returns an object of each type, with parameters 10, 11, 12, 13, 14.
func compacts(t *testing.T) map[string]compact {
	x := []float32{10, 11, 12, 13, 14}
	return map[string]compact{
		"round":      &Round{ctx: t.Context(), x: objective.NewPoint(x)},
		"evaluation": &Evaluation{ctx: t.Context(), x: x},
		"model":      &Model{x: x},
		"probe":      probe1{&Probes{ctx: t.Context(), x: points()}},
	}
}

// An app can read the parameters of every object in fewer bits. The error for a wrong argument
// names the argument.
func TestCompact(t *testing.T) {
	for name, c := range compacts(t) {
		halves, bytes := make([]byte, 6), make([]byte, 3)
		n, err := c.ReadHalf(3, halves)
		if n != 2 || err != nil || !slices.Equal(halves, []byte{0x80, 0x4a, 0, 0x4b, 0, 0}) {
			t.Errorf("%s: %d halves, %v: %x", name, n, err, halves)
		}
		n, err = c.ReadInt8(3, 2, bytes)
		if n != 2 || err != nil || !slices.Equal(bytes, []byte{6, 7, 0}) {
			t.Errorf("%s: %d bytes, %v: %x", name, n, err, bytes)
		}
		for want, err := range map[string]error{
			"config: dst has 5 bytes: give a multiple of 2, a parameter takes 2": second(
				c.ReadHalf(0, halves[:5])),
			"config: off = 6: parameters are numbered from 0 to 4":  second(c.ReadHalf(6, halves)),
			"config: off = -1: parameters are numbered from 0 to 4": second(c.ReadInt8(-1, 1, bytes)),
			"config: scale = 0: give a positive finite number":      second(c.ReadInt8(0, 0, bytes)),
			"config: scale = -1: give a positive finite number":     second(c.ReadInt8(0, -1, bytes)),
			"config: scale = NaN: give a positive finite number": second(
				c.ReadInt8(0, math.NaN(), bytes)),
			"config: scale = +Inf: give a positive finite number": second(
				c.ReadInt8(0, math.Inf(1), bytes)),
		} {
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
		if n, err := c.ReadHalf(5, nil); n != 0 || err != nil {
			t.Errorf("%s: %d of no parameters, %v", name, n, err)
		}
	}
	p := &Probes{ctx: t.Context(), x: points()}
	hasCode(t, "ReadHalf of probe 3", second(p.ReadHalf(3, 0, nil)), CodeConfig)
	hasCode(t, "ReadInt8 of probe -1", second(p.ReadInt8(-1, 0, 1, nil)), CodeConfig)
}

// Reading a block allocates nothing, for every type of object, because an app may read a million
// blocks a day.
func TestReadsAllocateNothing(t *testing.T) {
	x := []float32{10, 11, 12, 13, 14}
	dst, all := make([]byte, 8), make([]byte, 24)
	round := &Round{ctx: t.Context(), x: objective.NewPoint(x)}
	evaluation := &Evaluation{ctx: t.Context(), x: x}
	model := &Model{x: x}
	probes := &Probes{ctx: t.Context(), x: points()}
	for name, read := range map[string]func() (int, error){
		"round":      func() (int, error) { return round.ReadParams(2, dst) },
		"evaluation": func() (int, error) { return evaluation.ReadParams(2, dst) },
		"model":      func() (int, error) { return model.ReadParams(2, dst) },
		"a probe":    func() (int, error) { return probes.ReadParams(1, 2, dst) },
		"all probes": func() (int, error) { return probes.ReadAll(2, 2, all) },
	} {
		if got := testing.AllocsPerRun(100, func() {
			if n, err := read(); n != 2 || err != nil {
				t.Errorf("%s: %d, %v", name, n, err)
			}
		}); got != 0 {
			t.Errorf("%s: %v allocations a block, want 0", name, got)
		}
	}
}

// revoked is a source whose call is over.
type revoked struct{}

func (revoked) Dim() int                                    { return 5 }
func (revoked) Read(uint64, []float32, int) error           { return objective.ErrRevoked }
func (revoked) ReadAll(uint64, [][]float32, int, int) error { return objective.ErrRevoked }

// After the call nothing can be read.
func TestCompactRevoked(t *testing.T) {
	one, all := objective.At(revoked{}, 1), objective.AllAt(revoked{}, 1, 2)
	e := &Evaluation{ctx: t.Context(), x: []float32{1}}
	e.end()
	for name, c := range map[string]compact{
		"round": &Round{x: &one}, "evaluation": e, "probe": probe1{&Probes{x: &all}},
	} {
		hasCode(t, name, second(c.ReadHalf(0, make([]byte, 2))), CodeRevoked)
		hasCode(t, name, second(c.ReadInt8(0, 1, make([]byte, 1))), CodeRevoked)
	}
}
