package replica

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// A NaN in the registers has only one encoding, whatever bits the machine gave the NaN.
func TestRegistersOfNaN(t *testing.T) {
	for name, set := range map[string]func(r *Replica, payload uint64){
		"pool": func(r *Replica, payload uint64) {
			r.pool.a[3], r.pool.b[2] = math.Float64frombits(payload), math.Float64frombits(payload+1)
		},
		"normalized": func(r *Replica, payload uint64) { r.running.V = math.Float64frombits(payload) },
		"point": func(r *Replica, payload uint64) {
			r.pending.scalars[1] = math.Float32frombits(uint32(payload >> 32))
		},
	} {
		s := hostileScript(t, name, 2)
		a, b := after(t, s, 2), after(t, s, 2)
		set(a, 0x7ff8000000000000)
		set(b, 0xfffa000000000007)
		if a.Digest() != b.Digest() || !bytes.Equal(fileOf(t, a, History{}), fileOf(t, b, History{})) {
			t.Errorf("%s: the payload of a NaN is in the digest or the file", name)
		}
	}
}

// headTail is the offset, from the end of the head, of the registers.
func headTail(r *Replica) int { return -4 - 8*len(r.registers()) }

// The loader checks a head with registers before it allocates the memory that the head claims.
func TestHostileRegisters(t *testing.T) {
	le := binary.LittleEndian
	for _, tt := range []struct {
		plan, name string
		records    int
		edit       func(registers []byte)
	}{
		{"pool", "2^32-1 of them", 3, func(b []byte) { le.PutUint32(b, math.MaxUint32) }},
		{"pool", "2^31 of them", 3, func(b []byte) { le.PutUint32(b, 1<<31) }},
		{"pool", "one less", 3, func(b []byte) { le.PutUint32(b, le.Uint32(b)-1) }},
		{"pool", "none", 3, func(b []byte) { le.PutUint32(b, 0) }},
		{"pool", "another NaN", 3, func(b []byte) { le.PutUint64(b[4:], 0x7ff8000000000001) }},
		{"pool", "a signaling NaN", 3, func(b []byte) { le.PutUint64(b[4:], 0x7ff0000000000001) }},
		{"point", "record 0", 2, func(b []byte) { le.PutUint64(b[4:], 0) }},
		{"point", "record 1", 2, func(b []byte) { le.PutUint64(b[4:], 1) }},
		{"point", "a record to come", 2, func(b []byte) { le.PutUint64(b[4:], 3) }},
		{"point", "a scalar of 33 bits", 2, func(b []byte) { b[16] = 1 }},
		{"point", "another NaN", 2, func(b []byte) { le.PutUint32(b[12:], 0xffc00000) }},
		{"dense1", "record 0", 2, func(b []byte) { le.PutUint64(b[4:], 0) }},
		{"dense1", "a record to come", 2, func(b []byte) { le.PutUint64(b[4:], 3) }},
		{"dense1", "none", 2, func(b []byte) { le.PutUint32(b, 0) }},
		{"surrogate", "one less", 2, func(b []byte) { le.PutUint32(b, 7) }},
		{"surrogate", "record 1", 2, func(b []byte) { le.PutUint64(b[4:], 1) }},
		{"surrogate", "a record to come", 2, func(b []byte) { le.PutUint64(b[4:], 3) }},
		{"surrogate", "a weight of 33 bits", 2, func(b []byte) { b[16] = 1 }},
		{"surrogate", "another NaN", 2, func(b []byte) { le.PutUint32(b[12:], 0xffc00000) }},
		{"normalized", "none", 3, func(b []byte) { le.PutUint32(b, 0) }},
		{"normalized", "a negative mean", 3, func(b []byte) { b[4+7] |= 0x80 }},
		{"normalized", "a product above 1", 3, func(b []byte) {
			le.PutUint64(b[4+8:], math.Float64bits(1.5))
		}},
		{"normalized", "no number", 3, func(b []byte) {
			le.PutUint64(b[4+16:], math.Float64bits(math.NaN()))
		}},
		{"variates", "more than members", 3, func(b []byte) { le.PutUint64(b[4:], plan.MaxMembers+1) }},
		{"variates", "2^32 and one", 3, func(b []byte) { le.PutUint64(b[4:], 1<<32+1) }},
		{"variates", "none", 3, func(b []byte) { le.PutUint32(b, 0) }},
	} {
		s := hostileScript(t, tt.plan, 3)
		r := after(t, s, tt.records)
		file := resum(fileOf(t, r, History{}), func(head []byte) {
			tt.edit(head[len(head)+headTail(r):])
		})
		if _, _, err := load(s.cfg, file); !errors.Is(err, ErrState) ||
			strings.Contains(err.Error(), "digest") {
			t.Errorf("%s, %s: got %v, want %v of the head", tt.plan, tt.name, err, ErrState)
		}
	}
}

// The format of a state file follows from its plan.
func TestFormatOfPlan(t *testing.T) {
	for _, name := range []string{"mean", "pool", "point", "normalized"} {
		s := hostileScript(t, name, 1)
		file := fileOf(t, after(t, s, 2), History{})
		if want := name != "mean"; strings.HasPrefix(string(file), stateMagic2) != want {
			t.Errorf("%s: the file begins with %q", name, file[:len(stateMagic)])
		}
		file[len(stateMagic)-2] ^= '1' ^ '2'
		if _, _, err := load(s.cfg, resum(file, func([]byte) {})); !errors.Is(err, ErrState) {
			t.Errorf("%s in the other format: got %v, want %v", name, err, ErrState)
		}
	}
}

// A small file never makes the loader allocate a large model, whatever it claims.
func TestHostilePoolHead(t *testing.T) {
	p := planOf(t, `{"dim":40,"pool":65536,"rebase":1}`)
	s := newScript(p)
	s.round(1)
	file := fileOf(t, after(t, s, 2), History{})
	p.Dim = 1 << 31
	first := newChain(p.Run).plan(p)
	small := fileOf(t, after(t, s, 1), History{})
	old := len(s.records[0])
	grown := append([]byte(nil), file[:prefixLen+60]...)
	grown = binary.LittleEndian.AppendUint32(grown, uint32(len(first)))
	grown = append(append(grown, first...), file[prefixLen+64+old:]...)
	binary.LittleEndian.PutUint32(grown[len(stateMagic):],
		binary.LittleEndian.Uint32(file[len(stateMagic):])+uint32(len(first)-old))
	grown = resum(grown, func(head []byte) { binary.LittleEndian.PutUint64(head[48:], p.Dim) })
	few := resum(small, func(head []byte) {
		binary.LittleEndian.PutUint32(head[len(head)-4-8*65537:], 0)
	})
	var before, then runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, file := range [][]byte{grown, few} {
		for _, dim := range []uint64{0, 40} {
			_, _, err := load(Config{Run: p.Run, Dim: dim}, file)
			if !errors.Is(err, ErrState) {
				t.Errorf("got %v, want %v", err, ErrState)
			}
		}
	}
	runtime.ReadMemStats(&then)
	if got := then.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("%d bytes allocated for files of %d", got, len(grown))
	}
}

// FuzzRegisters: a head with registers and a correct checksum is either refused with ErrState, or
// Save writes the same bytes again.
func FuzzRegisters(f *testing.F) {
	for _, name := range []string{"pool", "signs", "point", "variates", "private", "dense1",
		"dense2", "surrogate"} {
		for n := 1; n < 4; n++ {
			r := after(f, hostileScript(f, name, 3), n)
			file := fileOf(f, r, History{})
			end := prefixLen + int(binary.LittleEndian.Uint32(file[len(stateMagic):]))
			f.Add(file[prefixLen:end], file[end+sumLen:])
		}
	}
	cfg := Config{Run: "golden", Dim: 50, RunKey: secret}
	f.Fuzz(func(t *testing.T, head, rest []byte) {
		file := binary.LittleEndian.AppendUint32([]byte(stateMagic2), uint32(len(head)))
		file = resum(append(append(append(file, head...), make([]byte, sumLen)...), rest...),
			func([]byte) {})
		r, h, err := load(cfg, file)
		if err != nil {
			if !errors.Is(err, ErrState) {
				t.Fatalf("got %v, want %v", err, ErrState)
			}
			return
		}
		if again := fileOf(t, r, h); !bytes.Equal(again, file) {
			t.Fatalf("loaded\n%x, saved\n%x", file, again)
		}
	})
}
