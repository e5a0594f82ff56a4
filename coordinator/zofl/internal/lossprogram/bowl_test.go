package lossprogram

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// bowl is a program whose loss at x is the sum of (x[i] - i%3)^2. It takes points, or x and
// factors. It logs each map and each request for losses.
func bowl(greeting string) {
	var said map[string]string
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, rest, _ := strings.Cut(in.Text(), " ")
		args := map[string]string{}
		for word := range strings.FieldsSeq(rest) {
			key, value, _ := strings.Cut(word, "=")
			args[key] = value
		}
		if verb != "hello" {
			fmt.Fprintln(os.Stderr, in.Text())
		}
		switch verb {
		case "hello":
			fmt.Println(greeting)
		case "map":
			said = args
			fmt.Println("ok")
		case "progress", "scale":
			fmt.Println("ok")
		case "loss":
			fmt.Print("loss")
			for _, x := range bowlPoints(said, args) {
				fmt.Print(" ", bowlOf(x))
			}
			fmt.Println()
		case "evaluate":
			fmt.Println("metrics", bowlOf(bowlPoints(said, map[string]string{"points": "1"})[0]))
		}
	}
}

func bowlOf(x []float32) (sum float64) {
	for i, v := range x {
		sum += (float64(v) - float64(i%3)) * (float64(v) - float64(i%3))
	}
	return sum
}

// bowlPoints returns the points of a request for losses, written out.
func bowlPoints(file, asked map[string]string) (all [][]float32) {
	raw, err := os.ReadFile(file["path"])
	if err != nil {
		panic(err)
	}
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		return n
	}
	dim, points := number(file["dim"]), number(asked["points"])
	for i := range points {
		x := make([]float32, dim)
		from := i
		if file["factors"] != "" {
			from = 0
		}
		for j := range x {
			x[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(from*dim+j):]))
		}
		if file["factors"] != "" && asked["scales"] != "" {
			count := number(file["factors"])
			signs := raw[4*dim+i*count : 4*dim+(i+1)*count]
			scale, err := strconv.ParseFloat(strings.Split(asked["scales"], ",")[i], 32)
			if err != nil {
				panic(err)
			}
			if scale != 0 {
				addRay(x, float32(scale), signs, file["shapes"])
			}
		}
		all = append(all, x)
	}
	return all
}

// addRay adds a multiple of a direction of rank 1 to x.
func addRay(x []float32, scale float32, signs []byte, shapes string) {
	at := func(i int) float32 { return float32(int8(signs[i])) }
	for shape := range strings.SplitSeq(shapes, ",") {
		var rows, columns int
		if n, _ := fmt.Sscanf(shape, "%dx%d", &rows, &columns); n < 2 {
			columns, rows = rows, 0
		}
		for i := range max(rows, 1) * columns {
			z := at(rows + i%columns)
			if rows > 0 {
				z *= at(i / columns)
			}
			x[i] += scale * z
		}
		x, signs = x[max(rows, 1)*columns:], signs[rows+columns:]
	}
}

// startBowl starts a bowl. log returns the lines that it has got.
func startBowl(t *testing.T, greeting string) (p *Program, log func() string) {
	t.Helper()
	p, said := startTest(t, "bowl "+greeting)
	return p, func() string {
		t.Helper()
		if _, err := p.Tell(t.Context(), "the end"); err != nil {
			t.Fatal(err)
		}
		says(t, said, "progress the end")
		return said.String()
	}
}
