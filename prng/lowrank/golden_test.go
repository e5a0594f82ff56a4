package lowrank_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

var update = flag.Bool("update", false, "rewrite the results in testdata; only for a new vector")

const (
	goldenFile    = "testdata/lowrank.txt"
	goldenVectors = 28
)

// vector is a paragraph of the file: its inputs in order, and its results. The specification
// defines the fields.
type vector struct {
	inputs  string
	fields  map[string]string
	results string
}

// isResult tells whether a line is of a result.
func isResult(line string) bool {
	name, _, _ := strings.Cut(line, ": ")
	return name == "first" || name == "last" || name == "sha256"
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
		v := &vector{fields: map[string]string{}}
		for line := range strings.SplitSeq(paragraph, "\n") {
			name, value, ok := strings.Cut(line, ": ")
			switch {
			case !ok:
				t.Fatalf("line %q has no field", line)
			case isResult(line):
				v.results += line + "\n"
			default:
				v.inputs += line + "\n"
				v.fields[name] = value
			}
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
		t.Run(fmt.Sprintf("%02d/%s", i+1, v.fields["op"]), func(t *testing.T) {
			got, want := v.compute(t)
			checkSame(t, "against the reference", got, want)
			if results := resultsOf(got); *update {
				v.results = results
			} else if results != v.results {
				t.Errorf("%sgot:\n%swant:\n%s", v.inputs, results, v.results)
			}
		})
	}
	if *update {
		for _, v := range all {
			head += "\n" + v.inputs + v.results
		}
		if err := os.WriteFile(goldenFile, []byte(head), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func (v *vector) number(t *testing.T, name string, bits int) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(v.fields[name], 0, bits)
	if err != nil {
		t.Fatalf("field %q: %v", name, err)
	}
	return n
}

func (v *vector) direction(t *testing.T) prng.Direction {
	return prng.Direction{
		Key:          prng.Key(v.number(t, "key", 64)),
		Step:         uint16(v.number(t, "step", 16)),
		Perturbation: uint16(v.number(t, "perturbation", 16)),
		Source:       uint32(v.number(t, "source", 32)),
	}
}

func (v *vector) shapes(t *testing.T) (all []lowrank.Shape) {
	for field := range strings.FieldsSeq(v.fields["shapes"]) {
		rows, columns, matrix := strings.Cut(field, "x")
		if !matrix {
			rows, columns = "0", rows
		}
		m, err := strconv.Atoi(rows)
		n, err2 := strconv.Atoi(columns)
		if err != nil || err2 != nil {
			t.Fatalf("shape %q", field)
		}
		all = append(all, lowrank.Shape{Rows: m, Columns: n})
	}
	return all
}

func (v *vector) coefficients(t *testing.T) (all []float32) {
	for field := range strings.FieldsSeq(v.fields["a"]) {
		bits, err := strconv.ParseUint(field, 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, math.Float32frombits(uint32(bits)))
	}
	return all
}

// start returns the n elements of x from element at on.
func (v *vector) start(t *testing.T, at, n int) []float32 {
	x := make([]float32, at+n)
	prng.Uniform(x, prng.Direction{Key: 1, Domain: prng.Initial}, 0)
	for i, u := range x {
		switch bits := math.Float32bits(u); v.fields["x"] {
		case "uniform":
		case "subnormal":
			x[i] = math.Float32frombits(bits & 0x807fffff)
		case "zero":
			x[i] = math.Float32frombits(bits & 0x80000000)
		default:
			t.Fatalf("x %q", v.fields["x"])
		}
	}
	return x[at:]
}

// compute returns the words of v by the kernels, and by the reference.
func (v *vector) compute(t *testing.T) (got, want []float32) {
	shapes, z := v.shapes(t), v.direction(t)
	l := lowrank.New(shapes)
	at, n := int(v.number(t, "at", 31)), int(v.number(t, "length", 20))
	full := refDirection(shapes, z)[at : at+n]
	if v.fields["op"] == "fill" {
		got = make([]float32, n)
		l.Fill(got, at, l.LoadOne(nil, z))
		return got, full
	}
	x, a := v.start(t, at, n), v.coefficients(t)
	want = append(want, x...)
	switch v.fields["op"] {
	case "perturb":
		l.Perturb(x, x, at, a[0], l.LoadOne(nil, z))
		for i := range want {
			want[i] += a[0] * full[i]
		}
	case "sum":
		all, fulls := make([]prng.Direction, len(a)), make([][]float32, len(a))
		for k := range all {
			all[k] = z
			fulls[k] = refDirection(shapes, z)[at : at+n]
			z.Perturbation++
		}
		var s lowrank.Signs
		var sums lowrank.Sums
		l.Load(&s, all)
		sums.Set(a)
		l.Sum(x, at, &s, &sums)
		for i := range want {
			want[i] = refSum(want[i], i, a, fulls)
		}
	default:
		t.Fatalf("op %q", v.fields["op"])
	}
	return x, want
}

func resultsOf(x []float32) string {
	var raw bytes.Buffer
	words := make([]string, len(x))
	for i, f := range x {
		binary.Write(&raw, binary.LittleEndian, math.Float32bits(f))
		words[i] = fmt.Sprintf("%08x", math.Float32bits(f))
	}
	n := min(4, len(x))
	return fmt.Sprintf("first: %s\nlast: %s\nsha256: %x\n", strings.Join(words[:n], " "),
		strings.Join(words[len(x)-n:], " "), sha256.Sum256(raw.Bytes()))
}
