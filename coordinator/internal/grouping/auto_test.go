package grouping

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

// slopesOf returns the scalars of a round, for devices with the given gradients, along p directions
// that all devices share.
func slopesOf(rng *rand.Rand, gradients [][]float64, p int) [][]float32 {
	rows := make([][]float32, len(gradients))
	for range p {
		z := make([]float64, len(gradients[0]))
		for i := range z {
			z[i] = float64(2*rng.IntN(2) - 1)
		}
		for i, g := range gradients {
			slope := 0.0
			for k := range g {
				slope += g[k] * z[k]
			}
			rows[i] = append(rows[i], float32(slope))
		}
	}
	return rows
}

// gradientsOf returns gradients with the mean (1, 1, ...). The differences from the mean cancel,
// and their mean square is the mean's square times unlike.
func gradientsOf(rng *rand.Rand, devices, d int, unlike float64) [][]float64 {
	list := make([][]float64, devices)
	for i := range list {
		list[i] = make([]float64, d)
	}
	for k := range d {
		mean, square := 0.0, 0.0
		for i := range list {
			list[i][k] = rng.NormFloat64()
			mean += list[i][k] / float64(devices)
		}
		for i := range list {
			list[i][k] -= mean
			square += list[i][k] * list[i][k] / float64(devices)
		}
		for i := range list {
			list[i][k] = 1 + list[i][k]*math.Sqrt(unlike/square)
		}
	}
	return list
}

// TestAuto: devices get own directions if their gradients are alike. The test uses vectors whose
// squares it knows. The differences cancel here, so the coordinator estimates them as M/(M-1) times
// their square. Devices get own directions below 0.2 of the mean's square for 2 devices, and below
// 0.38, 0.67, 1.17 and 1.87 for 3, 5, 10 and 20 devices.
func TestAuto(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, test := range []struct {
		devices int
		unlike  float64
		own     bool
	}{{20, 1.2, true}, {20, 2.8, false}, {10, 0.1, true}, {10, 0.8, true}, {10, 1.8, false},
		{10, 30, false}, {5, 0, true}, {5, 0.45, true}, {5, 1.5, false}, {3, 0.2, true}, {3, 0.8, false},
		{2, 0.1, true}, {2, 0.5, false}, {1, 0, false}} {
		gradients := [][]float64{make([]float64, 400)}
		if test.devices > 1 {
			gradients = gradientsOf(rng, test.devices, 400, test.unlike)
		} else {
			gradients[0][0] = 1
		}
		c, f, p := newChooser(1), newFleet(test.devices), planOf(uint32(test.devices), 0, 10)
		p.Groups = wiregroups.Auto
		for round := uint64(1); round <= measured+2; round++ {
			g := c.Choose(p, round, 0, f)
			checkGroups(t, c, f, g, nil)
			want := 1
			if round > 3 && test.own {
				want = test.devices
			}
			if len(g) != want || g.Count() != test.devices {
				t.Errorf("%d devices, unlike %v, round %d: groups %v, want %d", test.devices,
					test.unlike, round, g, want)
			}
			why := c.Heed(p, slopesOf(rng, gradients, 10), ones(gradients))
			if (why != "") != (round == measured && test.devices > 1) || test.own && round == measured &&
				!strings.Contains(why, "its own") {
				t.Errorf("%d devices, unlike %v, round %d: %q", test.devices, test.unlike, round, why)
			}
		}
	}
}

// The noise in the text is the noise by the equations, for known rows.
func TestAutoNoise(t *testing.T) {
	// q = (1^2 + 3.5^2)/2 / ((4+4+0+25)/4) = 0.803, so s = 2q - 1 = 0.606, and 1/(2 s) = 0.825. With
	// shares 3/4 and 1/4 M is 1.6, s = (1.6 q - 1)/0.6 = 0.475 and 1/(1.6 s) = 1.32.
	rows := [][]float32{{2, -2}, {0, -5}}
	alike := [][]float32{{2, -4}, {2, -4.2}}
	for _, test := range []struct {
		rows    [][]float32
		weights []uint32
		want    string
	}{
		{rows, []uint32{1, 1}, "all devices share directions: the noise of own ones is 0.83 of that"},
		{rows, []uint32{30, 10}, "the noise of own ones is 1.3 of that of shared ones, and grows"},
		{alike, []uint32{1, 1}, "each device has directions of its own: the noise of own ones is 0.5 of"},
		{[][]float32{{2, -2}, {-2, 2}}, []uint32{1, 1}, "have in common is too little to tell"},
	} {
		c, p := newChooser(1), &plan.Plan{GroupsFields: plan.GroupsFields{Groups: wiregroups.Auto}}
		why := c.Heed(p, nil, nil)
		why += c.Heed(p, [][]float32{{0, 0}, {0, 0}}, []uint32{1, 1})
		why += c.Heed(p, rows[:1], []uint32{1})
		for range measured - 1 {
			why += c.Heed(p, test.rows, test.weights)
		}
		if why != "" {
			t.Errorf("%v: %q before the last round", test.rows, why)
		}
		if why = c.Heed(p, test.rows, test.weights); !strings.Contains(why, test.want) {
			t.Errorf("%v: %q, want %q", test.rows, why, test.want)
		}
	}
	for _, groups := range []uint8{wiregroups.Random, wiregroups.Sketch} {
		c := newChooser(1)
		for range measured + 1 {
			if why := c.Heed(&plan.Plan{
				GroupsFields: plan.GroupsFields{Groups: groups},
			}, rows, ones(rows)); why != "" {
				t.Errorf("groups %d: %q", groups, why)
			}
		}
	}
}

// TestAutoDespiteALiar: one device cannot change the choice in these cases, whatever it sends.
// Devices whose gradients are alike keep own directions: three and four devices if the gradients
// are equal, five if the difference is a twentieth of the bound, ten if it is a quarter. Ten and
// more devices keep sharing if the difference is four times the bound.
func TestAutoDespiteALiar(t *testing.T) {
	for _, test := range []struct {
		devices      int
		alike, apart float64 // times the bound of v; 0 apart: no promise
	}{{3, 0, 0}, {4, 0, 0}, {5, 0.05, 0}, {10, 0.25, 4}, {20, 0.25, 4}} {
		bound := math.Sqrt(float64(test.devices-1)) / 2 // of v, where |g|^2 is 1
		for name, lie := range lies {
			for seed := range uint64(20) {
				rng := rand.New(rand.NewPCG(seed, uint64(test.devices)))
				if !ownDespite(rng, test.devices, bound*test.alike, lie) {
					t.Errorf("%d devices, seed %d: %s had like ones share", test.devices, seed, name)
				}
				if test.apart > 0 && ownDespite(rng, test.devices, bound*test.apart, lie) {
					t.Errorf("%d devices, seed %d: %s parted unlike ones", test.devices, seed, name)
				}
			}
		}
	}
}

// ownDespite returns whether devices get own directions although one of them lies.
func ownDespite(rng *rand.Rand, devices int, unlike float64,
	lie func(others [][]float32) []float32) bool {
	honest := gradientsOf(rng, devices-1, 400, unlike)
	c, p := newChooser(1), planOf(uint32(devices), 0, 10)
	p.Groups = wiregroups.Auto
	for range measured {
		rows := slopesOf(rng, honest, 10)
		rows = append(rows, lie(rows))
		c.Heed(p, rows, ones(rows))
	}
	return c.contrast.own
}

// lies are the scalars of a device that knows the scalars of all other devices in the round.
var lies = map[string]func(others [][]float32) []float32{
	"large":          func(others [][]float32) []float32 { return scaled(others, 1e6) },
	"large contrary": func(others [][]float32) []float32 { return scaled(others, -1e6) },
	"contrary":       func(others [][]float32) []float32 { return scaled(others, -1) },
	"eightfold":      func(others [][]float32) []float32 { return scaled(others, -8) },
	"agreeing":       func(others [][]float32) []float32 { return scaled(others, 3) },
	"nothing":        func(others [][]float32) []float32 { return scaled(others, 0) },
}

// scaled returns the mean of rows times a number.
func scaled(rows [][]float32, by float32) []float32 {
	mean := make([]float32, len(rows[0]))
	for _, row := range rows {
		for j, v := range row {
			mean[j] += v * by / float32(len(rows))
		}
	}
	return mean
}

// A course holds the rounds of a run with groups=auto: whether each device had own directions in a
// round, and the texts about choices.
type course struct {
	own  []bool // by round-1
	told []string
}

// follow passes rounds to a chooser, with gradients that depend on the round.
func follow(c *Chooser, rounds, devices int, gradients func(round int) [][]float64) (k course) {
	rng, p := rand.New(rand.NewPCG(7, 1)), planOf(uint32(devices), 0, 10)
	p.Groups = wiregroups.Auto
	for round := 1; round <= rounds; round++ {
		k.own = append(k.own, c.size(p) == 1)
		rows := slopesOf(rng, gradients(round), 10)
		if why := c.Heed(p, rows, ones(rows)); why != "" {
			k.told = append(k.told, fmt.Sprintf("%d: %s", round, why))
		}
	}
	return k
}

// shared returns the rounds in which devices shared directions.
func (k course) shared() (rounds []int) {
	for i, own := range k.own {
		if !own {
			rounds = append(rounds, i+1)
		}
	}
	return rounds
}

// The chooser compares own directions with shared ones once in ten M s rounds, here with s near 1,
// until own directions have more noise. Then devices share for good, even if their gradients are
// alike again.
func TestAutoJudgesAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alike, apart := gradientsOf(rng, 4, 400, 0), gradientsOf(rng, 4, 400, 40)
	c := newChooser(1)
	k := follow(c, 200, 4, func(round int) [][]float64 {
		if round > 80 && round < 140 {
			return apart
		}
		return alike
	})
	// From round 81 on s halves with each shared round, until there are ten rounds between them.
	shared := k.shared()
	if got := fmt.Sprint(shared[:8]); got != "[1 2 3 43 83 99 109 110]" || len(shared) != 98 {
		t.Errorf("shared directions in rounds %v", shared)
	}
	want := []string{"3: each device has directions of its own", "109: all devices share directions " +
		"again, as their own have more noise now"}
	if len(k.told) != len(want) {
		t.Fatalf("choices %q", k.told)
	}
	for i, w := range want {
		if !strings.Contains(k.told[i], w) {
			t.Errorf("choice %q, want %q", k.told[i], w)
		}
	}
}

// TestAutoDespiteALiarForLong: in 300 rounds a liar among ten devices can neither make devices with
// alike gradients share directions again, nor make devices with different gradients stop sharing.
func TestAutoDespiteALiarForLong(t *testing.T) {
	for name, lie := range lies {
		for _, unlike := range []float64{0.25, 4} {
			rng := rand.New(rand.NewPCG(6, 10))
			honest := gradientsOf(rng, 9, 400, unlike*3/2)
			c, p, shared := newChooser(1), planOf(10, 0, 10), 0
			p.Groups = wiregroups.Auto
			for range 300 {
				rows := slopesOf(rng, honest, 10)
				if c.size(p) > 1 {
					shared++
				}
				rows = append(rows, lie(rows))
				c.Heed(p, rows, ones(rows))
			}
			if few := shared < 20; few != (unlike < 1) || !few && shared < 300 {
				t.Errorf("%s, unlike %v: directions were shared in %d rounds", name, unlike, shared)
			}
		}
	}
}

// If there are fewer devices than a round asks, the round has groups, too.
func TestAutoOfFew(t *testing.T) {
	c, f, p := newChooser(1), newFleet(10), planOf(10, 0, 10)
	p.Groups, c.contrast.apart = wiregroups.Auto, 1
	for slot := 4; slot < 10; slot++ {
		f.standings[slot] = Gone
	}
	if g := c.Choose(p, 9, 0, f); fmt.Sprint(sizes(g)) != "[1 1 1 1]" {
		t.Errorf("groups %v of four devices", g)
	}
}
