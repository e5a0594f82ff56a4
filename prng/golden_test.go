package prng

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

var update = flag.Bool("update", false, "rewrite the results in testdata; only for a new vector")

const (
	goldenFile    = "testdata/scheme1.txt"
	goldenVectors = 47
)

// vector is a paragraph of the file: its fields in order. The specification defines the fields.
type vector struct {
	names, values []string
}

func (v *vector) get(name string) string {
	for i := range v.names {
		if v.names[i] == name {
			return v.values[i]
		}
	}
	return ""
}

func (v *vector) set(name, value string) {
	for i := range v.names {
		if v.names[i] == name {
			v.values[i] = value
			return
		}
	}
	v.names, v.values = append(v.names, name), append(v.values, value)
}

func (v *vector) String() string {
	var b strings.Builder
	for i := range v.names {
		fmt.Fprintf(&b, "%s: %s\n", v.names[i], v.values[i])
	}
	return b.String()
}

// number returns a field in decimal or, with the prefix 0x, in hexadecimal.
func (v *vector) number(t *testing.T, name string, bits int) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(v.get(name), 0, bits)
	if err != nil {
		t.Fatalf("field %q: %v", name, err)
	}
	return n
}

// readGolden returns the comment at the head of the file and the vectors.
func readGolden(t *testing.T) (head string, all []*vector) {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		if strings.HasPrefix(paragraph, "#") {
			head = paragraph + "\n"
			continue
		}
		v := new(vector)
		for line := range strings.SplitSeq(paragraph, "\n") {
			name, value, ok := strings.Cut(line, ": ")
			if !ok {
				t.Fatalf("line %q has no field", line)
			}
			v.names, v.values = append(v.names, name), append(v.values, value)
		}
		all = append(all, v)
	}
	if len(all) != goldenVectors {
		t.Fatalf("%s: got %d vectors, want %d", goldenFile, len(all), goldenVectors)
	}
	return head, all
}

func TestGoldenVectors(t *testing.T) { isatest.Each(t, testGoldenVectors) }

func testGoldenVectors(t *testing.T) {
	head, all := readGolden(t)
	for i, v := range all {
		t.Run(fmt.Sprintf("%02d/%s", i+1, v.get("op")), func(t *testing.T) {
			got := &vector{append([]string(nil), v.names...), append([]string(nil), v.values...)}
			compute(t, got)
			if *update {
				all[i] = got
			} else if got.String() != v.String() {
				t.Errorf("got:\n%s\nwant:\n%s", got, v)
			}
		})
	}
	if *update {
		for _, v := range all {
			head += "\n" + v.String()
		}
		if err := os.WriteFile(goldenFile, []byte(head), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// compute sets the results of v from its inputs.
func compute(t *testing.T, v *vector) {
	switch v.get("op") {
	case "table":
		sum := sha256.New()
		for _, c := range tableBits {
			binary.Write(sum, binary.LittleEndian, c)
		}
		v.set("sha256", hex.EncodeToString(sum.Sum(nil)))
	case "recordkey":
		key := RecordKey([]byte(v.get("runkey")), v.number(t, "n", 64))
		v.set("key", fmt.Sprintf("%#016x", uint64(key)))
	case "squarednorm":
		norm := SquaredNorm(direction(t, v), v.number(t, "length", 64))
		v.set("norm", fmt.Sprintf("%#016x", math.Float64bits(norm)))
		scale := SphereScale(coefficients(t, v)[0], norm)
		v.set("scale", fmt.Sprintf("%#08x", math.Float32bits(scale)))
	default:
		setWords(v, elements(t, v))
	}
}

func direction(t *testing.T, v *vector) Direction {
	z := Direction{
		Key:          Key(v.number(t, "key", 64)),
		Step:         uint16(v.number(t, "step", 16)),
		Perturbation: uint16(v.number(t, "perturbation", 16)),
		Source:       uint32(v.number(t, "source", 32)),
		Domain:       Domain(v.number(t, "domain", 32)),
	}
	switch dist := v.get("distribution"); dist {
	case "normal":
		z.Dist = Normal
	case "rademacher":
		z.Dist = Rademacher
	case "":
	default:
		t.Fatalf("distribution %q", dist)
	}
	return z
}

func coefficients(t *testing.T, v *vector) []float32 {
	var all []float32
	for field := range strings.FieldsSeq(v.get("a")) {
		bits, err := strconv.ParseUint(field, 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, math.Float32frombits(uint32(bits)))
	}
	return all
}

// elements returns the result of v. Operations on a given vector start from the uniforms of
// domain 2 with key 1 at the same block.
func elements(t *testing.T, v *vector) []float32 {
	z, block, a := direction(t, v), uint32(v.number(t, "block", 32)), coefficients(t, v)
	x := make([]float32, v.number(t, "length", 20))
	Uniform(x, Direction{Key: 1, Domain: Initial}, block)
	switch op := v.get("op"); op {
	case "fill":
		Fill(x, z, block)
	case "uniform":
		Uniform(x, z, block)
	case "axpy":
		Axpy(x, a[0], z, block)
	case "perturb":
		dst := make([]float32, len(x))
		Perturb(dst, x, a[0], z, block)
		return dst
	case "sum":
		Sum(x, sumTerms(z, a, v.get("pattern")), block)
	default:
		t.Fatalf("unknown op %q", op)
	}
	return x
}

// sumTerms returns a term for each letter of pattern, n for normal and r for Rademacher, along
// z with ascending perturbations.
func sumTerms(z Direction, a []float32, pattern string) []Term {
	var all []Term
	for i, letter := range pattern {
		z.Dist = map[rune]Distribution{'n': Normal, 'r': Rademacher}[letter]
		all = append(all, Term{A: a[i], Z: z})
		z.Perturbation++
	}
	return all
}

func setWords(v *vector, x []float32) {
	var raw bytes.Buffer
	words := make([]string, len(x))
	for i, f := range x {
		binary.Write(&raw, binary.LittleEndian, math.Float32bits(f))
		words[i] = fmt.Sprintf("%08x", math.Float32bits(f))
	}
	n := min(4, len(x))
	v.set("first", strings.Join(words[:n], " "))
	v.set("last", strings.Join(words[len(x)-n:], " "))
	v.set("sha256", fmt.Sprintf("%x", sha256.Sum256(raw.Bytes())))
}
