package plan_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

const blocksFile = "testdata/blocks.txt"

const blocksHeader = `# Blocks of scalars that share a scale. A line has a precision, the scalars
# as bits of float32, their block, and the bits of what it reads as. After
# "refused" it has a precision, a number of scalars, a block that a reader
# refuses, and why.
`

// sharing are the precisions in which the scalars of a block share a scale.
var sharing = []plan.Precision{plan.Int8, plan.Int4, plan.Int2}

// blockTable returns the text of the file of blocks.
func blockTable() string {
	rng, b := rand.New(rand.NewPCG(19, 23)), &strings.Builder{}
	b.WriteString(blocksHeader)
	normal := make([]float32, 19)
	for i := range normal {
		normal[i] = float32(40 * rng.NormFloat64())
	}
	minus := float32(math.Copysign(0, -1))
	for _, v := range sharing {
		for _, block := range [][]float32{
			normal, {1}, {-1}, {0, minus, 0}, {1, -2, 0.5}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
				0, 0, 0}, {65519, 65519}, {0x1p-24, 0, 0x1p-23}, {0x1.8p-25}, {0x1p-25}, {3e-8, 1},
			{2, -2, 2, -2, 0.5, -0.5, 0.625, -0.625, 1.25, -1.25},
		} {
			s := v.Append(nil, block...)
			fmt.Fprintf(b, "%v |%s | %x |%s\n", v, bitsOf(block), []byte(s),
				bitsOf(v.Values(s, 1, len(block))))
		}
	}
	for _, r := range []struct{ v, why string }{
		{"int8 3 003c010203ff", "the last byte is unused"},
		{"int8 2 003c0102ff00", "2 bytes too long"}, {"int8 2 003c01", "a byte too short"},
		{"int8 2 00bc0102", "a negative scale"}, {"int8 2 007c0102", "an infinite scale"},
		{"int8 2 007e0102", "a scale that is no number"}, {"int8 2 00000100", "a code with r = 0"},
		{"int8 2 00800000", "a scale of -0"},
		{"int4 3 003c2113", "4 unused bits"}, {"int4 5 003c21430510", "4 unused bits"},
		{"int2 7 003c0040", "2 unused bits"}, {"int2 9 003c00000400", "14 unused bits"},
	} {
		fmt.Fprintf(b, "refused %s: %s\n", r.v, r.why)
	}
	return b.String()
}

func bitsOf(v []float32) (text string) {
	for _, x := range v {
		text += fmt.Sprintf(" %08x", math.Float32bits(x))
	}
	return text
}

// TestBlocks: the encoded blocks equal those of the file, on every machine and in every version.
func TestBlocks(t *testing.T) {
	made := blockTable()
	if *update {
		if err := os.WriteFile(blocksFile, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(blocksFile)
	if err != nil {
		t.Fatal(err)
	}
	if made != string(want) {
		t.Errorf("%s is not what the code makes:\n%s", blocksFile, made)
	}
	refused := 0
	for line := range strings.Lines(string(want)) {
		var name string
		var n int
		var b []byte
		if _, err := fmt.Sscanf(line, "refused %s %d %x", &name, &n, &b); err != nil {
			continue
		}
		refused++
		for _, v := range sharing {
			if v.String() == name && (v.Fits(b, 1, n) || v.Values(b, 1, n) != nil) {
				t.Errorf("%s: %x fits %d scalars", name, b, n)
			}
		}
	}
	if refused != 12 {
		t.Errorf("%d refused blocks", refused)
	}
}

// TestSeveralBlocks: the block of each local step has a scale of its own, and Fits refuses a length
// other than that of the blocks.
func TestSeveralBlocks(t *testing.T) {
	steps := [][]float32{{1, -1, 0.5}, {1000, -300, 20}, {0, 0, 0}, {1e-4, -3e-5, 2e-5}}
	for _, v := range sharing {
		var s wire.Scalars
		var want []float32
		for _, block := range steps {
			s = v.Append(s, block...)
			rounded := slices.Clone(block)
			v.Round(rounded)
			want = append(want, rounded...)
		}
		got := v.Values(s, 4, 3)
		if !slices.Equal(got, want) || v.Len(s) != -1 || len(s) != 4*v.Bytes(3) {
			t.Errorf("%v: %x: got %v, want %v", v, s, got, want)
		}
		one := make([]float32, 3)
		if v.Decode(one, s, 3); !slices.Equal(one, want[9:]) {
			t.Errorf("%v: block 3 is %v, want %v", v, one, want[9:])
		}
		if v.Fits(s, 3, 3) || v.Fits(s, 5, 3) || v.Fits(s[:len(s)-1], 4, 3) || v.Fits(s, 4, 30) ||
			v.Fits(nil, 1, 3) {
			t.Errorf("%v: %x fits another number of scalars", v, s)
		}
		s[2*v.Bytes(3)+1] = 0x7c
		if v.Fits(s, 4, 3) {
			t.Errorf("%v: %x fits, with an infinite scale in block 2", v, s)
		}
		rounded := []float32{1, float32(math.Inf(1))}
		if v.Round(rounded); rounded[0]-rounded[0] == 0 {
			t.Errorf("%v: a block with an infinity is rounded to %v", v, rounded)
		}
	}
}

// TestScaledScalars: where scalars share a scale, Scale changes only the scale. All other scalars
// it multiplies as float32.
func TestScaledScalars(t *testing.T) {
	for _, v := range []plan.Precision{plan.Single, plan.Half, plan.Int8, plan.Int4, plan.Int2} {
		var s wire.Scalars
		for _, block := range [][]float32{{1, -1, 0.5}, {3000, -300, 20}} {
			s = v.Append(s, block...)
		}
		before, after := v.Values(s, 2, 3), v.Values(v.Scale(nil, s, 3, 0.7), 2, 3)
		for i, x := range before {
			want := []float32{float32(0.7) * x}
			if !v.Quantized() {
				v.Round(want)
			}
			off := math.Abs(float64(after[i])) / math.Abs(0.7*float64(x))
			if !v.Quantized() && after[i] != want[0] || off > 1+1e-7 && v.Quantized() || off < 0.999 {
				t.Errorf("%v: scalar %d, %v, times 0.7 is %v", v, i, x, after[i])
			}
		}
	}
	s := plan.Int4.Append(nil, 1, -2)
	if got := plan.Int4.Scale(nil, s, 2, 1e-9); !bytes.Equal(got, make([]byte, 4)) {
		t.Errorf("%x times 1e-9 is %x", s, got)
	}
}

// TestPrecisionsDoNotAllocate: rounding a step's scalars, and decoding and scaling a contribution,
// allocate nothing.
func TestPrecisionsDoNotAllocate(t *testing.T) {
	block, dst := make([]float32, 19), make(wire.Scalars, 0, 200)
	for v := range plan.Int2 + 1 {
		s := v.Append(nil, make([]float32, 19)...)
		n := testing.AllocsPerRun(20, func() {
			v.Round(block)
			v.Decode(block, s, 0)
			dst = v.Scale(dst[:0], s, 19, 0.5)
			if !v.Fits(dst, 1, 19) {
				t.Fatal("a scaled block does not fit")
			}
		})
		if n > 0 {
			t.Errorf("%v: %v allocations", v, n)
		}
	}
}
