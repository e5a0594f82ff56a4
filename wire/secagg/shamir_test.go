package secagg

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A field computes in GF(2^8) with tables of logarithms to the base 3, a method independent of
// times.
type field struct{ exp, log [512]int }

func newField() *field {
	f := &field{}
	for i, v := 0, 1; i < 255; i++ {
		f.exp[i], f.exp[i+255], f.log[v] = v, v, i
		if v = v ^ v<<1; v > 255 {
			v ^= 0x11b
		}
	}
	return f
}

func (f *field) times(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	return f.exp[f.log[a]+f.log[b]]
}

// value returns the value at x of a polynomial, power by power.
func (f *field) value(coefficients []byte, x int) (sum byte) {
	power := 1
	for _, c := range coefficients {
		sum ^= byte(f.times(int(c), power))
		power = f.times(power, x)
	}
	return sum
}

// solve returns the coefficients of the polynomial through points, by Gauss's elimination.
func (f *field) solve(xs, ys []byte) []byte {
	n := len(xs)
	rows := make([][]int, n)
	for i, x := range xs {
		power := 1
		for range n {
			rows[i] = append(rows[i], power)
			power = f.times(power, int(x))
		}
		rows[i] = append(rows[i], int(ys[i]))
	}
	for c := range n {
		for rows[c][c] == 0 {
			rows = append(append(slices.Clone(rows[:c]), rows[c+1:]...), rows[c])
		}
		inverse := f.exp[255-f.log[rows[c][c]]]
		for j := range rows[c] {
			rows[c][j] = f.times(rows[c][j], inverse)
		}
		for i := range rows {
			if factor := rows[i][c]; i != c {
				for j := range rows[i] {
					rows[i][j] ^= f.times(factor, rows[c][j])
				}
			}
		}
	}
	out := make([]byte, n)
	for i := range rows {
		out[i] = byte(rows[i][n])
	}
	return out
}

func TestTimes(t *testing.T) {
	f := newField()
	for a := range 256 {
		for b := range 256 {
			want := uint64(f.times(a, b)) * 0x0101010101010101
			if got := times(uint64(a)*0x0101010101010101, byte(b)); got != want {
				t.Fatalf("%d times %d: got %x, want %x", a, b, got, want)
			}
		}
		if a > 0 && f.times(a, int(inverse(byte(a)))) != 1 {
			t.Fatalf("1/%d: got %d", a, inverse(byte(a)))
		}
	}
	if got := times(0x57, 0x83); got != 0xc1 { // FIPS 197, section 4.2
		t.Errorf("0x57 times 0x83: got %#x, want 0xc1", got)
	}
}

// random returns n random lanes.
func random(r *rand.Rand, n int) []lane {
	lanes := make([]lane, n)
	for i := range lanes {
		for w := range lanes[i] {
			lanes[i][w] = r.Uint64()
		}
	}
	return lanes
}

// From any t shares both this package and Gauss's elimination compute the secret and the other
// shares. With t-1 shares every secret remains possible, with exactly one polynomial for each.
func TestShares(t *testing.T) {
	f, r := newField(), rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, threshold int }{{3, 2}, {5, 3}, {100, 51}, {159, 82}, {255, 255}} {
		secret, others := random(r, 1)[0], random(r, c.threshold-1)
		var xs []byte
		var shares []lane
		for _, i := range r.Perm(c.n)[:c.threshold] {
			xs = append(xs, byte(i+1))
			shares = append(shares, share(secret, others, byte(i+1)))
		}
		if got := combine(lagrange(xs, 0), shares); got != secret {
			t.Fatalf("%v: got %x, want %x", c, got, secret)
		}
		x := byte(r.IntN(255) + 1)
		if got, want := combine(lagrange(xs, x), shares), share(secret, others, x); got != want {
			t.Fatalf("%v at %d: got %x, want %x", c, x, got, want)
		}
		for at := range keyLen {
			coefficients, ys := []byte{secret.append(nil)[at]}, []byte(nil)
			for _, other := range others {
				coefficients = append(coefficients, other.append(nil)[at])
			}
			for i, x := range xs {
				ys = append(ys, shares[i].append(nil)[at])
				if want := f.value(coefficients, int(x)); ys[i] != want {
					t.Fatalf("%v: share %d, byte %d: got %d, want %d", c, x, at, ys[i], want)
				}
			}
			if at > 0 || c.threshold > 100 {
				continue // the elimination is slow
			}
			if got := f.solve(xs, ys); !slices.Equal(got, coefficients) {
				t.Fatalf("%v: got %x, want %x", c, got, coefficients)
			}
			for guess := 0; guess < 256; guess += c.threshold {
				xs, ys := slices.Clone(xs), slices.Clone(ys)
				xs[0], ys[0] = 0, byte(guess)
				if got := f.solve(xs, ys); got[0] != byte(guess) {
					t.Fatalf("%v: got %d, want %d", c, got[0], guess)
				}
			}
		}
	}
}

// Over all coefficients any t-1 shares take each value equally often, whatever the secret is. So
// t-1 shares reveal nothing about the secret.
func TestFewSharesTellNothing(t *testing.T) {
	for _, secret := range []byte{0, 1, 0xa7} {
		seen := map[[2]byte]int{}
		for a := range 256 {
			for b := range 256 {
				others := []lane{{uint64(a)}, {uint64(b)}}
				first := share(lane{uint64(secret)}, others, 3)
				second := share(lane{uint64(secret)}, others, 200)
				seen[[2]byte{byte(first[0]), byte(second[0])}]++
			}
		}
		if len(seen) != 1<<16 {
			t.Errorf("secret %d: %d pairs of shares, want each of %d once", secret, len(seen), 1<<16)
		}
	}
}
