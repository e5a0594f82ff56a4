package lossprogram

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestHelloAtItsBounds: parseHello accepts the smallest and the largest numbers, and ignores
// unknown keys.
func TestHelloAtItsBounds(t *testing.T) {
	for line, want := range map[string]hello{
		"hello 1 dim=0":                     {points: 1},
		"hello 1 dim=2147483647 samples=1":  {dim: math.MaxInt32, points: 1, samples: 1},
		"hello 1 dim=3 points=4096 future=": {dim: 3, points: mostPoints},
	} {
		if h, err := parseHello(line); err != nil || h != want {
			t.Errorf("%q: %+v, %v, want %+v", line, h, err, want)
		}
	}
}

func TestParseMetrics(t *testing.T) {
	for line, want := range map[string]string{
		"0.5 samples=1": "[0.5] 1 <nil>", "0.5 -1 samples=7 unit=s": "[0.5 -1] 7 <nil>",
		"1": "[1] 1 <nil>", "": "[] 1 <nil>",
	} {
		m, n, err := parseMetrics(strings.Fields(line))
		if got := fmt.Sprint(m, n, err); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	for _, line := range []string{"1 samples=0", "1 samples=-1", "1 samples=x", "one samples=2"} {
		if m, n, err := parseMetrics(strings.Fields(line)); err == nil {
			t.Errorf("%q: %v of %d", line, m, n)
		}
	}
}
