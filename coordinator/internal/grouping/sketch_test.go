package grouping

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// skewed returns sketches of members, each of which has two of ten labels, with a little noise.
func skewed(rng *rand.Rand, members int) (slots []uint32, rows [][]float32) {
	labels := make([][]float64, 10)
	for l := range labels {
		for range 64 {
			labels[l] = append(labels[l], rng.NormFloat64())
		}
	}
	cards := make([]int, 2*members)
	for i := range cards {
		cards[i] = i % 10
	}
	rng.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	for i := range members {
		row := make([]float32, 64)
		for j := range row {
			row[j] = float32((labels[cards[2*i]][j]+labels[cards[2*i+1]][j])/2 +
				0.05*rng.NormFloat64())
		}
		slots, rows = append(slots, uint32(i)), append(rows, row)
	}
	return slots, rows
}

// ones returns equal weights.
func ones[T any](list []T) []uint32 { return slices.Repeat([]uint32{1}, len(list)) }

// equal returns the sketches of members with equal weights.
func equal(slots []uint32, rows [][]float32) Answers {
	return Answers{Slots: slots, Rows: rows, Weights: ones(slots)}
}

func equalSketches(slots []uint32, rows [][]float32) *sketches {
	return newSketches(equal(slots, rows), nil)
}

// TestSplitCancels: the sums of groups of five of 100 members have a small part of the squared
// differences that random groups have, and each member is in one group.
func TestSplitCancels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	slots, rows := skewed(rng, 100)
	s := equalSketches(slots, rows)
	random := s.cost(slices.Collect(slices.Chunk(slots, 5)))
	groups := s.split(slots, 5, &dice{key: 1})
	all := slices.Sorted(slices.Values(slices.Concat(groups...)))
	if len(groups) != 20 || !slices.Equal(all, slots) {
		t.Fatalf("groups %v", groups)
	}
	got := s.cost(groups)
	t.Logf("random groups leave %.3f, chosen ones %.3f", random, got)
	if got > 0.1*random {
		t.Errorf("the groups leave %v of %v", got, random)
	}
	if again := s.split(slots, 5, &dice{key: 1}); !slices.EqualFunc(groups, again, slices.Equal) {
		t.Error("the same inputs give other groups")
	}
}

// TestSplitIsBest compares a split with all possible splits of six members.
func TestSplitIsBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		var slots []uint32
		var rows [][]float32
		for i := range 6 {
			slots = append(slots, uint32(10*i))
			rows = append(rows, []float32{rng.Float32(), rng.Float32(), rng.Float32()})
		}
		s := equalSketches(slots, rows)
		least := math.Inf(1)
		for a := 1; a < 6; a++ {
			for b := a + 1; b < 6; b++ {
				first := []uint32{slots[0], slots[a], slots[b]}
				rest := slices.DeleteFunc(slices.Clone(slots),
					func(slot uint32) bool { return slices.Contains(first, slot) })
				least = min(least, s.cost([][]uint32{first, rest}))
			}
		}
		if got := s.cost(s.split(slots, 3, &dice{key: 9})); math.Abs(got-least) > 1e-9 {
			t.Errorf("groups that leave %v, the best leave %v", got, least)
		}
	}
}

// TestTableIsTrue: a swap changes the cost by the gain that the table computed before.
func TestTableIsTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	slots, rows := skewed(rng, 23)
	s := equalSketches(slots, rows)
	table := s.tableOf(slots, 5)
	table.begin(slots)
	for range 50 {
		i, j := rng.IntN(23), rng.IntN(23)
		if table.group[i] == table.group[j] {
			continue
		}
		before, gain := table.cost(), table.gain(i, j)
		table.swap(i, j)
		direct := s.cost(slices.Collect(slices.Chunk(table.result(), 5)))
		if now := table.cost(); math.Abs(before-gain-now) > 1e-9 || math.Abs(now-direct) > 1e-9 {
			t.Fatalf("cost %v, gain %v, then %v, in fact %v", before, gain, now, direct)
		}
	}
}

// TestSplitOfManyIsQuick: 10,000 members take about as long as 2,500 do.
func TestSplitOfManyIsQuick(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, members := range []int{100, 10_000} {
		slots, rows := skewed(rng, members)
		s := equalSketches(slots, rows)
		random := s.cost(slices.Collect(slices.Chunk(slots, 5)))
		began := time.Now()
		groups := s.split(slots, 5, &dice{key: 1})
		t.Logf("%d members: %v, leaves %.3f of random", members,
			time.Since(began).Round(time.Millisecond), s.cost(groups)/random)
		if s.cost(groups) > 0.3*random || time.Since(began) > time.Minute {
			t.Errorf("%d members: the groups leave %v of %v", members, s.cost(groups), random)
		}
	}
}

// TestWeights compares the weights with the equation, which the test solves by Gauss's elimination.
func TestWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	slots, rows := skewed(rng, 40)
	s := equalSketches(slots, rows)
	clipped := 0
	for from := 0; from < 40; from += 5 {
		group := slots[from : from+5]
		got := s.weights(group, ones(group))
		w := gauss(s, group)
		sum := 0.0
		for i := range w {
			w[i] = math.Min(math.Max(w[i], 0.2), 3)
			if w[i] == 0.2 || w[i] == 3 {
				clipped++
			}
			sum += w[i]
		}
		for i := range w {
			if want := 5 * w[i] / sum; math.Abs(float64(got[i])/weightUnit-want) > 1e-4 {
				t.Errorf("weights %v, want %v of %v", got, want, w)
			}
		}
	}
	if clipped == 0 || clipped == 40 {
		t.Errorf("%d of 40 weights were clipped: the test shows nothing", clipped)
	}
}

// gauss returns (C_S + 0.02 mean(diag C) I)^-1 1, to a mean of 1.
func gauss(s *sketches, slots []uint32) []float64 {
	n := len(slots)
	mean := 0.0
	for _, v := range s.of {
		mean += dot(v, v) / float64(len(s.of))
	}
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		for j := range n {
			a[i][j] = dot(s.of[slots[i]], s.of[slots[j]])
		}
		a[i][i] += 0.02 * mean
		a[i][n] = 1
	}
	for i := range a {
		for k := range a {
			if k == i {
				continue
			}
			by := a[k][i] / a[i][i]
			for j := range a[k] {
				a[k][j] -= by * a[i][j]
			}
		}
	}
	w, sum := make([]float64, n), 0.0
	for i := range a {
		w[i] = a[i][n] / a[i][i]
		sum += w[i] / float64(n)
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// TestWeightsOfEquals: without sketches, or with equal sketches, all members have the same weight.
func TestWeightsOfEquals(t *testing.T) {
	same := [][]float32{{1, 2}, {1, 2}, {1, 2}}
	for name, s := range map[string]*sketches{
		"nobody":  equalSketches(nil, nil),
		"same":    equalSketches([]uint32{0, 1, 2}, same),
		"unknown": equalSketches([]uint32{7, 8}, [][]float32{{1, 2}, {3, 5}}),
	} {
		w := s.weights([]uint32{0, 1, 2}, []uint32{1, 1, 1})
		if w[0] != w[1] || w[1] != w[2] || w[0] == 0 {
			t.Errorf("%s: weights %v", name, w)
		}
	}
}

// TestWeightedSketches: with weights, the sums of groups are sums of weighted sketches minus their
// weighted mean. A member's weight in a mean is its claim times the factor with which the sketches
// cancel best.
func TestWeightedSketches(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	slots, rows := skewed(rng, 12)
	claimed, all := make([]uint32, 12), 0.0
	for i := range claimed {
		claimed[i] = 1 + uint32(rng.IntN(4))
		all += float64(claimed[i])
	}
	s := newSketches(Answers{Slots: slots, Rows: rows, Weights: claimed}, nil)
	group, want := []uint32{2, 3, 5, 7}, 0.0
	for j := range rows[0] {
		mean, sum := 0.0, 0.0
		for i := range rows {
			mean += float64(claimed[i]) * float64(rows[i][j]) / all
		}
		for _, slot := range group {
			sum += 12 / all * float64(claimed[slot]) * (float64(rows[slot][j]) - mean)
		}
		want += sum * sum
	}
	if got := s.cost([][]uint32{group}); math.Abs(got-want) > 1e-6*want {
		t.Errorf("the group leaves %v, want %v", got, want)
	}
	factors := gauss(s, group)
	got := s.weights(group, []uint32{1, 2, 4, 4})
	for i, of := range []float64{0.25, 0.5, 1, 1} {
		if w := of * factors[i] * weightUnit; math.Abs(float64(got[i])-w) > 1 {
			t.Errorf("weights %v, want %v times the claimed ones", got, factors)
		}
	}
}

// TestLiarsSketch: one false sketch of any size leaves the groups of the other members good, and
// the weights bounded.
func TestLiarsSketch(t *testing.T) {
	for _, lie := range []float32{0, 1e3, 1e30, math.MaxFloat32} {
		rng := rand.New(rand.NewPCG(1, 2))
		slots, rows := skewed(rng, 50)
		honest := equalSketches(slots, rows)
		bad := slices.Clone(rows)
		bad[7] = slices.Repeat([]float32{lie}, 64)
		s := equalSketches(slots, bad)
		groups := s.split(slots, 5, &dice{key: 3})
		rest := slices.DeleteFunc(slices.Clone(groups),
			func(g []uint32) bool { return slices.Contains(g, 7) })
		random := honest.cost(slices.Collect(slices.Chunk(slots[:45], 5)))
		if got := honest.cost(rest); len(rest) != 9 || !(got < 0.35*random) {
			t.Errorf("a sketch of %v: the other groups leave %v of %v", lie, got, random)
		}
		for _, g := range groups {
			for _, w := range s.weights(g, ones(g)) {
				if w > 15*weightUnit || w < weightUnit/100 {
					t.Errorf("a sketch of %v: weights %v", lie, s.weights(g, ones(g)))
				}
			}
		}
	}
}

// TestNothingIsLeft: the members' differences from their mean cancel in a group of all members, and
// Spread is never below 0.
func TestNothingIsLeft(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for range 50 {
		slots, rows := skewed(rng, 5)
		c, f, p := newChooser(1), newFleet(5), planOf(5, 5, 10)
		why := c.Learn(p, 1, equal(slots, rows), f)
		if left := c.Spread(p, 1, f); left < 0 || left > 1e-12 || strings.Contains(why, "leave -") {
			t.Fatalf("a group of all leaves %v: %s", left, why)
		}
	}
}

// TestSketchedRounds: the rounds of a period ask each present member once, in groups whose
// differences cancel. Other members replace absent ones, and the rounds also ask members who joined
// later.
func TestSketchedRounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	slots, rows := skewed(rng, 100)
	c, f, p := newChooser(1), newFleet(100), planOf(10, 5, 10)
	if !c.Lacks(f) || c.Weights([]uint32{1}, []uint32{1}) != nil {
		t.Error("without sketches there are weights, or none are lacking")
	}
	c.Learn(p, 1, equal(slots, rows), f)
	if left := c.Spread(p, 1, f); c.Lacks(f) || !(left > 0 && left < 0.1) {
		t.Errorf("sketches are lacking, or the groups leave %v", left)
	}
	asked := map[uint32]int{}
	for round := uint64(1); round <= 10; round++ {
		g := c.Choose(p, round, 0, f)
		checkGroups(t, c, f, g, nil)
		if len(g) != 2 || len(g[0]) != 5 || len(g[1]) != 5 {
			t.Errorf("round %d has groups %v", round, g)
		}
		for slot := range g.Slots() {
			asked[slot]++
		}
	}
	if len(asked) != 100 {
		t.Errorf("ten rounds of ten ask %d of 100 members", len(asked))
	}
	for slot := range 30 { // in the middle of a period
		f.standings[slot] = Standing(1 + slot%3)
	}
	for slot := 0; slot < 23; slot++ {
		f.standings = append(f.standings, Present)
	}
	for round := uint64(3); round <= 12; round++ {
		before := map[uint32]uint32{}
		g := c.Choose(p, round, 0, f)
		checkGroups(t, c, f, g, nil)
		standings := map[Standing]int{}
		for group, slots := range g {
			for _, slot := range slots {
				before[slot] = uint32(group)
				standings[f.standings[slot]]++
			}
		}
		if g.Count() != 11 || standings[Present] != 10 || standings[Silent] != 1 {
			t.Errorf("round %d has groups %v, of standings %v: want 10 present and 1 silent", round,
				g, standings)
		}
		f.contributed = map[uint32]bool{g[0][0]: true, g[1][1]: true}
		checkGroups(t, c, f, c.Choose(p, round, 1, f), before)
		clear(f.contributed)
	}
	if c.Lacks(f) {
		t.Error("23 of 93 present members came later: a quarter is not exceeded")
	}
	f.standings = append(f.standings, Present)
	if !c.Lacks(f) {
		t.Error("24 of 94 present members came later: more than a quarter")
	}
	// The coordinator does not ask a member for ever that was asked and sent no sketch.
	c.Learn(p, 1, equal(slots[:10], rows[:10]), f)
	if c.Lacks(f) {
		t.Error("whoever sent no sketch is asked again")
	}
}
