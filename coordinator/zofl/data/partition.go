package data

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// partitionStream separates the generators of splits from other generators with the same seed.
const partitionStream = 0x7061727469746e73

// IID deals n samples to clients at random, the same number to each client. IID leaves out the
// remaining n mod clients samples. Entry c of the result holds the indices of client c's samples,
// in random order. IID returns an error if there are fewer samples than clients.
func IID(n, clients int, seed uint64) ([][]int, error) {
	if clients < 1 || n < clients {
		return nil, fmt.Errorf("data: IID: %d samples for %d clients: each needs one", n, clients)
	}
	return deal(rand.New(rand.NewPCG(seed, partitionStream)).Perm(n), clients), nil
}

// Shards sorts the samples by label and cuts them into clients*perClient shards of equal length. It
// deals perClient shards at random to each client, so that a client's samples have few labels. With
// perClient 1 this is the split of ZOFedHT section IV; with perClient 2 it is the split of the
// FedAvg paper. Shards leaves out the remaining samples, fewer than there are shards.
func Shards(labels []uint8, clients, perClient int, seed uint64) ([][]int, error) {
	if clients < 1 || perClient < 1 || len(labels)/clients < perClient {
		return nil, fmt.Errorf("data: Shards: %d samples for %d clients with %d shards each: "+
			"each shard needs one", len(labels), clients, perClient)
	}
	rng := rand.New(rand.NewPCG(seed, partitionStream))
	var sorted []int
	for _, pool := range pools(labels, rng) {
		sorted = append(sorted, pool...)
	}
	shards := deal(sorted, clients*perClient)
	shares := make([][]int, clients)
	for i, s := range rng.Perm(len(shards)) {
		shares[i/perClient] = append(shares[i/perClient], shards[s]...)
	}
	return shares, nil
}

// Dirichlet gives every client the same number of samples. It draws the proportions of labels of
// each client from the symmetric Dirichlet distribution with concentration alpha per label. With
// alpha near 0 a client has one label, with alpha 1 all mixtures are equally likely, and from alpha
// 100 on the split is nearly IID. When no samples of a label are left, later clients get none of
// that label. Dirichlet leaves out the remaining samples, fewer than clients. (In the variant that
// weighs labels by their frequency, alpha is a total: classes times this alpha.)
func Dirichlet(labels []uint8, clients int, alpha float64, seed uint64) ([][]int, error) {
	if clients < 1 || len(labels) < clients {
		return nil, fmt.Errorf("data: Dirichlet: %d samples for %d clients: each needs one",
			len(labels), clients)
	}
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return nil, fmt.Errorf("data: Dirichlet: alpha is %v: it must be positive and finite",
			alpha)
	}
	rng := rand.New(rand.NewPCG(seed, partitionStream))
	left := pools(labels, rng)
	shares := make([][]int, clients)
	for c := range shares {
		share := make([]int, len(labels)/clients)
		mixture := dirichlet(rng, len(left), alpha)
		for i := range share {
			l := pick(rng, mixture, left)
			last := len(left[l]) - 1
			share[i] = left[l][last]
			left[l] = left[l][:last]
		}
		shares[c] = share
	}
	return shares, nil
}

// deal cuts order into equal parts, and keeps the order of the elements.
func deal(order []int, parts int) [][]int {
	size := len(order) / parts
	out := make([][]int, parts)
	for i := range out {
		out[i] = order[i*size : (i+1)*size : (i+1)*size]
	}
	return out
}

// pools returns the indices of the samples of each label, shuffled.
func pools(labels []uint8, rng *rand.Rand) [][]int {
	var out [][]int
	for i, l := range labels {
		for int(l) >= len(out) {
			out = append(out, nil)
		}
		out[l] = append(out[l], i)
	}
	for _, pool := range out {
		rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	}
	return out
}

// pick draws a label by the mixture, among the labels that have samples left. If the mixture gives
// probability 0 to every remaining label, pick draws in proportion to the remaining samples.
func pick(rng *rand.Rand, mixture []float64, left [][]int) int {
	var total, samples float64
	for l, pool := range left {
		if len(pool) > 0 {
			total += mixture[l]
			samples += float64(len(pool))
		}
	}
	at, last := rng.Float64(), 0
	for l, pool := range left {
		if len(pool) == 0 {
			continue
		}
		if total > 0 {
			at -= mixture[l] / total
		} else {
			at -= float64(len(pool)) / samples
		}
		if last = l; at < 0 {
			break
		}
	}
	return last
}

// dirichlet draws from the symmetric Dirichlet distribution: gamma variates divided by their sum.
// It works with the logarithms of the variates, because for a small alpha all variates underflow.
func dirichlet(rng *rand.Rand, n int, alpha float64) []float64 {
	p := make([]float64, n)
	most := math.Inf(-1)
	for i := range p {
		p[i] = logGamma(rng, alpha)
		most = max(most, p[i])
	}
	var sum float64
	for i := range p {
		p[i] = math.Exp(p[i] - most)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// logGamma draws the logarithm of a gamma variate of shape alpha and scale 1, by the method of
// Marsaglia and Tsang (2000) for shape alpha+1, and G(alpha) = G(alpha+1) * U^(1/alpha).
func logGamma(rng *rand.Rand, alpha float64) float64 {
	d := alpha + 1 - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - rng.Float64() // never 0
		if math.Log(u) < float64(x*x/2)+float64(d*(1-v+math.Log(v))) {
			return math.Log(d*v) + math.Log(1-rng.Float64())/alpha
		}
	}
}
