package secagg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// These tests carry out the attacks of docs/secagg.md that this package does not prevent.

// masked runs a round of five devices until they have sent vectors, and returns the vectors and the
// values in them.
func masked(t *testing.T, threshold int) (s *Server, devices []*Device, vectors, values []uint32) {
	t.Helper()
	return led(t, threshold, StepUnmask)
}

// led runs a round of five devices until a step is open.
func led(t *testing.T, threshold int, to Step) (s *Server, devices []*Device, vectors,
	values []uint32) {
	t.Helper()
	r := Round{Context: []byte("round"), Members: []uint32{1, 2, 3, 4, 5}, Words: 1,
		Threshold: threshold}
	s, err := NewServer(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, slot := range r.Members {
		d, err := NewDevice(r, slot, rand.NewChaCha8([32]byte{byte(slot)}), nil)
		if err != nil {
			t.Fatal(err)
		}
		devices, values = append(devices, d), append(values, 1000*slot)
	}
	for step := range to {
		for i, d := range devices {
			b, err := d.Keys(), error(nil)
			switch step {
			case StepShares:
				b, err = d.Shares(s.Give(d.me))
			case StepMask:
				b, err = d.Mask(s.Give(d.me), values[i:i+1])
				vectors = append(vectors, binary.LittleEndian.Uint32(b))
			}
			if err := errors.Join(err, s.Take(step, d.me, b)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return s, devices, vectors, values
}

// A loot holds the shares of devices' seeds and mask keys that a server has collected, each with
// its x.
type loot struct {
	xs     [2][5][]byte
	shares [2][5][]lane
}

// unmask makes each device give its shares, with a separate list for each device. shared are the
// lists that the devices used for their masks.
func (l *loot) unmask(t *testing.T, devices []*Device, shared, lists []byte) {
	t.Helper()
	for i, d := range devices {
		b, err := d.Unmask(lists[i : i+1])
		if err != nil {
			t.Fatal(err)
		}
		for j := range devices {
			if shared[i]>>j&1 == 0 {
				continue
			}
			gone := 1 - lists[i]>>j&1
			l.xs[gone][j] = append(l.xs[gone][j], byte(i+1))
			l.shares[gone][j] = append(l.shares[gone][j], laneOf(b))
			b = b[keyLen:]
		}
	}
}

// seed and key return a secret of a device. The loot must have t shares of the secret.
func (l *loot) seed(t *testing.T, device int) []byte { return l.secret(t, 0, device) }
func (l *loot) key(t *testing.T, device int) []byte  { return l.secret(t, 1, device) }

func (l *loot) secret(t *testing.T, kind, device int) []byte {
	t.Helper()
	xs, shares := l.xs[kind][device], l.shares[kind][device]
	if len(xs) < 3 {
		t.Fatalf("device %d: %d shares", device, len(xs))
	}
	return combine(lagrange(xs[:3], 0), shares[:3]).append(nil)
}

// all is the list with all five devices, as bits.
const all = 0b11111

// A server that shows five devices different lists in the last step gets the sum of the first two
// devices if the threshold is three: the server tells at least three devices of each of the other
// three that it is gone. With a threshold of four the attack fails.
func TestTwoFacedServer(t *testing.T) {
	s, devices, vectors, values := masked(t, 3)
	lists := []byte{0b10011, 0b01011, 0b00111, 0b01011, 0b10011}
	var l loot
	l.unmask(t, devices, bytes.Repeat([]byte{all}, 5), lists)
	sum := []uint32{vectors[0] + vectors[1]}
	for _, d := range devices[:2] {
		addMask(sum, s.seedKey(l.seed(t, int(d.me)-1), d.me), true)
		for j := 2; j < 5; j++ {
			l.removePair(t, s, sum, d, devices[j])
		}
	}
	if want := values[0] + values[1]; sum[0] != want {
		t.Errorf("got %d, want %d: correct docs/secagg.md", sum[0], want)
	}
	_, devices, _, _ = masked(t, 4)
	if b, err := devices[0].Unmask(lists[:1]); b != nil || !errors.Is(err, ErrThreshold) {
		t.Errorf("got %x, %v, want %v", b, err, ErrThreshold)
	}
}

// removePair removes from a sum the mask that device d added for the device gone.
func (l *loot) removePair(t *testing.T, s *Server, sum []uint32, d, gone *Device) {
	t.Helper()
	secret := privateKey(l.key(t, int(gone.me)-1))
	key, err := s.maskKey(secret, d.mask.PublicKey().Bytes(), d.me, gone.me)
	if err != nil {
		t.Fatal(err)
	}
	addMask(sum, key, gone.me > d.me)
}

// A server that also shows devices different lists before StepMask gets the value of one device if
// the threshold is three of five: the first device adds masks for only two other devices. The
// server calls each of these two gone to three devices: to all except the first and itself.
func TestTwoFacedServerBeforeMasks(t *testing.T) {
	s, devices, _, values := led(t, 3, StepMask)
	const few = 0b00111
	given := s.Give(devices[0].me)
	given = append([]byte{few}, given[1:1+2*boxLen]...)
	b, err := devices[0].Mask(given, values[:1])
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range devices[1:] {
		if _, err := d.Mask(s.Give(d.me), values[i+1:i+2]); err != nil {
			t.Fatal(err)
		}
	}
	var l loot
	l.unmask(t, devices, []byte{few, all, all, all, all},
		[]byte{few, 0b11011, 0b11101, 0b11001, 0b11001})
	sum := []uint32{binary.LittleEndian.Uint32(b)}
	addMask(sum, s.seedKey(l.seed(t, 0), devices[0].me), true)
	for _, gone := range devices[1:3] {
		l.removePair(t, s, sum, devices[0], gone)
	}
	if sum[0] != values[0] {
		t.Errorf("got %d, want %d: correct docs/secagg.md", sum[0], values[0])
	}
}

// TestSmallestSum checks the figures of docs/secagg.md.
func TestSmallestSum(t *testing.T) {
	for _, c := range [][3]int{{5, 3, 1}, {5, 4, 4}, {20, 11, 1}, {20, 15, 14}, {100, 51, 1},
		{100, 61, 1}, {100, 67, 42}, {100, 75, 66}, {100, 100, 100}, {1000, 57, 1}} {
		if got := SmallestSum(c[0], c[1]); got != c[2] {
			t.Errorf("%d devices, threshold %d: got %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// 20 devices are summed in 4 random groups. After seven groupings there are as many independent
// equations as devices, in nearly all draws. After six groupings there cannot be as many.
func TestRegroupingTells(t *testing.T) {
	const n, groups, draws = 20, 4, 200
	r := rand.New(rand.NewPCG(5, 6))
	solved := 0
	for range draws {
		var rows [][]int64
		for grouping := 1; grouping <= 7; grouping++ {
			order := r.Perm(n)
			for g := range groups {
				row := make([]int64, n)
				for _, i := range order[g*n/groups : (g+1)*n/groups] {
					row[i] = 1
				}
				rows = append(rows, row)
			}
			switch got := rank(rows); {
			case got > grouping*(groups-1)+1:
				t.Fatalf("rank %d after %d groupings", got, grouping)
			case grouping == 7 && got == n:
				solved++
			}
		}
	}
	if solved < draws/2 {
		t.Errorf("%d of %d draws are solved after 7 groupings, want most", solved, draws)
	}
}

// rank returns the rank of a matrix modulo a large prime.
func rank(matrix [][]int64) (rank int) {
	const p = 1<<31 - 1
	rows := make([][]int64, len(matrix))
	for i, row := range matrix {
		rows[i] = slices.Clone(row)
	}
	for c := range rows[0] {
		pivot := slices.IndexFunc(rows[rank:], func(row []int64) bool { return row[c] != 0 })
		if pivot < 0 {
			continue
		}
		rows[rank], rows[rank+pivot] = rows[rank+pivot], rows[rank]
		for i := rank + 1; i < len(rows); i++ {
			a, b := rows[rank][c], rows[i][c]
			for j := range rows[i] {
				rows[i][j] = ((rows[i][j]*a-rows[rank][j]*b)%p + p) % p
			}
		}
		if rank++; rank == len(rows) {
			break
		}
	}
	return rank
}

// A device refuses neighbors with equal keys, even if the server accepted these keys.
func TestEqualKeys(t *testing.T) {
	r := Round{Context: []byte("round"), Members: []uint32{1, 2, 3}, Words: 1}
	var devices []*Device
	for _, slot := range r.Members {
		d, err := NewDevice(r, slot, rand.NewChaCha8([32]byte{byte(slot)}), nil)
		if err != nil {
			t.Fatal(err)
		}
		devices = append(devices, d)
	}
	d, own, other := devices[0], devices[0].Keys()[:2*keyLen], devices[1].Keys()[:2*keyLen]
	for what, keys := range map[string][]byte{"another's": other, "its own": own} {
		given := append([]byte{7}, other...)
		given = append(given, d.tag(nil, keyTag, 2, other)...)
		given = append(append(given, keys...), d.tag(nil, keyTag, 3, keys)...)
		var e *Error
		if _, err := d.Shares(given); !errors.As(err, &e) || e.Slot != 3 ||
			!errors.Is(err, ErrForeign) {
			t.Errorf("%s keys: got %v, want slot 3 and %v", what, err, ErrForeign)
		}
	}
}
