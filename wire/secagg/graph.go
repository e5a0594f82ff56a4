package secagg

import (
	"encoding/binary"
	"math"
	"slices"
)

// mostComplete is the largest number of devices in a round in which every device is a neighbor of
// every other one.
const mostComplete = 100

// sparse lists, for rounds of at most n devices, the degree k and the threshold t of Bell et al.
// 2020, section 3. k is the smallest even number, and t the largest for this k, with n*P(a device
// has t corrupt neighbors) + n*(gamma+delta)^(k/2) <= 2^-40, n*P(fewer than t neighbors stay) <=
// 2^-30 and 2t > k+1. gamma = delta = 1/5: the fractions of devices that are corrupt and that drop
// out. A row holds for every n above the n of the row before; a test computes the table anew.
var sparse = []struct{ n, degree, threshold int }{
	{128, 72, 47},
	{256, 76, 40},
	{512, 96, 50},
	{1 << 10, 112, 59},
	{1 << 11, 122, 64},
	{1 << 12, 128, 67},
	{1 << 13, 134, 70},
	{1 << 14, 138, 72},
	{1 << 16, 144, 75},
	{1 << 18, 152, 79},
	{MostMembers, 158, 82},
}

// Graph returns how many neighbors each of n devices has, 2 to MostMembers, and how many of a
// neighborhood, its center included, must answer to the end. Up to 100 devices, all are neighbors,
// and more than half must answer to the end. Beyond 100 devices, a device's neighbors are the
// nearest devices on a random ring. Their number is so large that, with a fifth of the devices
// corrupt and another fifth dropping out, the sum comes out with a probability of 1 - 2^-30, and
// every device stays hidden with a probability of 1 - 2^-40.
func Graph(n int) (degree, threshold int) {
	if n <= mostComplete {
		return n - 1, n/2 + 1
	}
	for _, row := range sparse {
		if n <= row.n {
			return row.degree, row.threshold
		}
	}
	panic("secagg: more than MostMembers devices")
}

// A ring holds the members, by their index, in a random order that the round's id determines.
type ring struct{ order, place []int32 }

// ring returns nil where all devices are neighbors.
func (s *setting) ring() *ring {
	n := len(s.members)
	if s.degree == n-1 {
		return nil
	}
	r := &ring{make([]int32, n), make([]int32, n)}
	for i := range r.order {
		r.order[i] = int32(i)
	}
	words := newStream(derive(s.id[:], s.id[:], "ring"))
	for i := n - 1; i > 0; i-- {
		j := words.below(uint32(i + 1))
		r.order[i], r.order[j] = r.order[j], r.order[i]
	}
	for place, i := range r.order {
		r.place[i] = int32(place)
	}
	return r
}

// hood returns the neighborhood of a member, the member itself included, as ascending indices.
func (s *setting) hood(r *ring, member int) []int32 {
	hood := make([]int32, 0, s.degree+1)
	if r == nil {
		for i := range s.members {
			hood = append(hood, int32(i))
		}
		return hood
	}
	n := len(r.order)
	for d := -s.degree / 2; d <= s.degree/2; d++ {
		hood = append(hood, r.order[(int(r.place[member])+d+n)%n])
	}
	slices.Sort(hood)
	return hood
}

// below returns a uniform number of 0..n-1: the next word that is below the largest multiple of n,
// modulo n.
func (s *stream) below(n uint32) uint32 {
	most := math.MaxUint32 - (math.MaxUint32%n+1)%n
	for {
		if w := s.next(); w <= most {
			return w % n
		}
	}
}

func (s *stream) next() uint32 {
	var b [4]byte
	s.XORKeyStream(b[:], b[:])
	return binary.LittleEndian.Uint32(b[:])
}
