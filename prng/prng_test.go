package prng

import (
	"math"
	"testing"
)

// Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = 0xffffffff
	for _, test := range []struct {
		counter [4]uint32
		key     Key
		want    [4]uint32
	}{
		{[4]uint32{}, 0, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, 1<<64 - 1,
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0_a4093822,
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := Philox(test.counter, test.key); got != test.want {
			t.Errorf("Philox(%08x, %016x): got %08x, want %08x", test.counter, test.key, got,
				test.want)
		}
	}
}

func TestXoroshiroKnownAnswers(t *testing.T) {
	s0, s1 := uint64(1), uint64(2)
	for i, want := range []uint64{393217, 669327710093319, 1732421326133921491,
		11394790081659126983} {
		var got uint64
		if got, s0, s1 = next(s0, s1); got != want {
			t.Errorf("output %d: got %d, want %d", i, got, want)
		}
	}
}

// The keys were computed with Python's hmac and hashlib.
func TestRecordKey(t *testing.T) {
	for _, test := range []struct {
		runKey string
		n      uint64
		want   Key
	}{
		{"", 0, 0x848892ba0a1875f3},
		{"public seed", 1, 0x9603e8944fae28cc},
		{"public seed", 1<<64 - 1, 0xa4270fb865e37857},
		{"a run key that is longer than the sixty-four bytes of a block of SHA-256", 258,
			0x53000fb6ed237254},
	} {
		keys := NewKeyring([]byte(test.runKey))
		keys.Key(test.n + 1) // must not affect later keys
		if got := keys.Key(test.n); got != test.want {
			t.Errorf("keyring of %q, record %d: got %#x, want %#x", test.runKey, test.n,
				uint64(got), uint64(test.want))
		}
		if got := RecordKey([]byte(test.runKey), test.n); got != test.want {
			t.Errorf("RecordKey(%q, %d): got %#016x, want %#016x", test.runKey, test.n, got,
				test.want)
		}
	}
}

func TestSlot(t *testing.T) {
	if Slot(0) == Shared || Slot(0) != 1 || Slot(math.MaxUint32-1) != math.MaxUint32 {
		t.Errorf("Slot(0) = %d, Slot(2^32-2) = %d", Slot(0), Slot(math.MaxUint32-1))
	}
}

func TestNormalOfIsOdd(t *testing.T) {
	if got := NormalOf(0x7fffffff); got != 0 {
		t.Errorf("median: got %v, want 0", got)
	}
	for i := range uint32(1 << 16) {
		word := i*0x9e3779b9 | 1
		got, want := math.Float32bits(NormalOf(-word)), math.Float32bits(-NormalOf(word))
		if got != want {
			t.Fatalf("word %#x: got %#x, want %#x", word, got, want)
		}
	}
}

func TestSquaredNorm(t *testing.T) {
	z := testDirection
	z.Dist = Normal
	all := refFill(z, 0, 2*BlockLen+5)
	for _, d := range []uint64{0, 1, BlockLen - 1, BlockLen, BlockLen + 1, 2*BlockLen + 5} {
		var want, sum float64
		for i, v := range all[:d] {
			if i%BlockLen == 0 {
				want += sum
				sum = 0
			}
			sum += float64(float64(v) * float64(v))
		}
		want += sum
		if got := SquaredNorm(z, d); got != want {
			t.Errorf("d = %d: got %v, want %v", d, got, want)
		}
	}
	z.Dist = Rademacher
	if got := SquaredNorm(z, 1<<40); got != 1<<40 {
		t.Errorf("Rademacher: got %v, want 2^40", got)
	}
}

func TestSphereScale(t *testing.T) {
	if got, want := SphereScale(3, 4), float32(1.5); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := SphereScale(3, 0); got != 0 {
		t.Errorf("zero vector: got %v, want 0", got)
	}
}
