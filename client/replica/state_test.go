package replica

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

const stateFile = "testdata/state-1.bin"

// fileOf returns the state file of r.
func fileOf(t testing.TB, r *Replica, h History) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Save(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(cfg Config, file []byte) (*Replica, History, error) {
	return Load(cfg, bytes.NewReader(file), int64(len(file)))
}

// A replica that is saved and loaded between any two records ends with the same bits as a replica
// that was not, for every plan.
func TestGoldenStateGoesOn(t *testing.T) {
	for _, g := range readGolden(t) {
		r := replay(t, g, func(cfg Config, r *Replica) *Replica {
			again, _, err := load(cfg, fileOf(t, r, History{}))
			if err != nil {
				t.Fatalf("%s: record %d: %v", g.name, r.N(), err)
			}
			if stateOf(again) != stateOf(r) || !bytes.Equal(again.PlanRecord(), r.PlanRecord()) {
				t.Fatalf("%s: got %+v, want %+v", g.name, stateOf(again), stateOf(r))
			}
			return again
		})
		if got := fmt.Sprintf("%x", digestOf(r)); got != g.digest {
			t.Errorf("%s: digest %s, want %s", g.name, got, g.digest)
		}
	}
}

// eventful returns a replica with every part that a state file can hold.
func eventful(t testing.TB) (*Replica, *chain, History) {
	t.Helper()
	p := smallPlan()
	r, c := New(Config{Run: p.Run}), newChain(p.Run)
	apply := func(record []byte) {
		t.Helper()
		if err := r.Apply(record); err != nil {
			t.Fatal(err)
		}
	}
	apply(c.plan(p))
	apply(c.simple(1))
	var change plan.Change
	for _, field := range [][2]string{{"beta", "0.25"}, {"quorum", "1"},
		{"perturbation_schedule", `[{"round":3,"perturbations":2}]`}} {
		if err := planfile.SetChange(&change, field[0], field[1]); err != nil {
			t.Fatal(err)
		}
	}
	apply(c.add(wire.Record{Kind: wire.KindChange, Change: &change}))
	if err := r.Skip(c.simple(2)); err != nil {
		t.Fatal(err)
	}
	apply(c.add(wire.Record{Kind: wire.KindRollback, To: 3}))
	apply(c.simple(3))
	r.x[1], r.m[2] = float32(math.NaN()), float32(math.Copysign(0, -1))
	return r, c, History{Rollbacks: []Rollback{{5, 3}, {9, 2}}, Snapshot: 4}
}

// ended is eventful after its end.
func ended(t testing.TB) (*Replica, History) {
	t.Helper()
	r, c, h := eventful(t)
	if err := r.Apply(c.add(wire.Record{Kind: wire.KindEnd,
		End: &wire.End{Reason: wire.EndRequested, Text: "enough"}})); err != nil {
		t.Fatal(err)
	}
	return r, h
}

// Every version reads and writes the bytes of this file, on every machine.
func TestGoldenState(t *testing.T) {
	r, h := ended(t)
	got := fileOf(t, r, h)
	if *update {
		if err := os.WriteFile(stateFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(stateFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got %d bytes that are not the %d of %s", len(got), len(want), stateFile)
	}
	again, history, err := load(Config{Run: "golden", Dim: 10}, want)
	if err != nil {
		t.Fatal(err)
	}
	if stateOf(again) != stateOf(r) || !reflect.DeepEqual(history, h) ||
		again.Ended().Text != "enough" || again.Plan().Beta != 0.25 {
		t.Errorf("got %+v and %+v, want %+v and %+v", stateOf(again), history, stateOf(r), h)
	}
	head, err := ReadHead(bytes.NewReader(want))
	if err != nil || head.N != r.N() || head.Hash != r.Hash() || head.Ended == nil ||
		head.Plan.Dim != 10 || head.Vectors != 2 ||
		!reflect.DeepEqual(head.History, h) {
		t.Errorf("head %+v, %v", head, err)
	}
}

// Load accepts pieces of any length, and passes on the reader's error.
func TestLoadInPieces(t *testing.T) {
	r, _, h := eventful(t)
	file := fileOf(t, r, h)
	for _, reader := range []io.Reader{
		iotest.OneByteReader(bytes.NewReader(file)), iotest.HalfReader(bytes.NewReader(file)),
		iotest.DataErrReader(bytes.NewReader(file)),
	} {
		got, history, err := Load(Config{Run: "golden"}, struct{ io.Reader }{reader}, int64(len(file)))
		if err != nil || stateOf(got) != stateOf(r) || !reflect.DeepEqual(history, h) {
			t.Errorf("got %v, want the state", err)
		}
	}
	broken := errors.New("broken")
	reader := io.MultiReader(bytes.NewReader(file[:len(file)-40]), iotest.ErrReader(broken))
	if _, _, err := Load(Config{Run: "golden"}, reader,
		int64(len(file))); !errors.Is(err, broken) || errors.Is(err, ErrState) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if _, err := ReadHead(io.MultiReader(bytes.NewReader(file[:30]),
		iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("head: got %v, want %v", err, broken)
	}
}

// Load refuses a file that lost bytes, gained bytes or has one changed bit.
func TestDamagedState(t *testing.T) {
	r, h := ended(t)
	file := fileOf(t, r, h)
	refuse := func(what string, file []byte, size int) {
		t.Helper()
		for _, size := range []int{size, len(file)} {
			if _, _, err := Load(Config{Run: "golden"}, bytes.NewReader(file),
				int64(size)); !errors.Is(err, ErrState) {
				t.Fatalf("%s, size %d: got %v, want %v", what, size, err, ErrState)
			}
		}
	}
	for n := range file {
		refuse(fmt.Sprint(n, " bytes"), file[:n], len(file))
		for bit := range 8 {
			damaged := slices.Clone(file)
			damaged[n] ^= 1 << bit
			refuse(fmt.Sprint("byte ", n), damaged, len(file))
		}
	}
	refuse("a byte more", append(slices.Clone(file), 0), len(file))
	zeros := slices.Clone(file)
	clear(zeros[len(zeros)/2:])
	refuse("zeros in the second half", zeros, len(file))
	if _, err := ReadHead(bytes.NewReader(file[:40])); !errors.Is(err, ErrState) {
		t.Errorf("head: got %v, want %v", err, ErrState)
	}
}

// Load refuses a file of another run or model, and the error says why.
func TestForeignState(t *testing.T) {
	r, _, h := eventful(t)
	file := fileOf(t, r, h)
	given := basePlan()
	given.Dim, given.Initial, given.InitialDigest = 3, plan.Given, InitialDigest([]float32{1, 2, 3})
	g := New(Config{Run: "golden", Initial: []float32{1, 2, 3}})
	mustApply(t, g, newChain("golden").plan(given))
	givenFile := fileOf(t, g, History{})
	for _, tt := range []struct {
		name string
		cfg  Config
		file []byte
		want error
		says string
	}{
		{"run", Config{Run: "else"}, file, ErrForeign,
			`of run "golden", this replica of "else"`},
		{"dim", Config{Run: "golden", Dim: 11}, file, ErrDim, "the file has 10, this model 11"},
		{"initial", Config{Run: "golden", Initial: []float32{1, 2, 4}}, givenFile, ErrInitial, "digest"},
		{"initial of another length", Config{Run: "golden", Initial: []float32{1}}, givenFile,
			ErrInitial, "gives 1"},
	} {
		_, _, err := load(tt.cfg, tt.file)
		if !errors.Is(err, ErrState) || !errors.Is(err, ErrForeign) || !errors.Is(err, tt.want) ||
			!strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %v that says %q", tt.name, err, tt.want, tt.says)
		}
	}
	if _, _, err := load(Config{Run: "golden"}, givenFile); err != nil {
		t.Errorf("without given parameters: %v", err)
	}
}

// The loader allocates no memory that a head claims before it has checked the length of the file.
func TestHostileHead(t *testing.T) {
	p := basePlan()
	p.Dim = 1 << 30
	r := New(Config{Run: p.Run})
	r.n, r.plan, r.transport, r.x = 1, *p, transportOf(p), make([]float32, 1)
	r.first = newChain(p.Run).plan(p)
	r.hash = wire.HashRecord(r.first)
	file := fileOf(t, r, History{})
	file = resum(file, func(head []byte) { binary.LittleEndian.PutUint64(head[48:], p.Dim) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, size := range []int64{int64(len(file)), 1 << 20, math.MaxInt64} {
		if _, _, err := Load(Config{Run: p.Run}, bytes.NewReader(file), size); !errors.Is(err, ErrState) {
			t.Errorf("got %v, want %v", err, ErrState)
		}
	}
	exact := int64(len(file)) - 4 + 4<<30
	if _, _, err := Load(Config{Run: p.Run, Dim: 5}, bytes.NewReader(file),
		exact); !errors.Is(err, ErrDim) {
		t.Errorf("got %v, want %v", err, ErrDim)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes allocated for a model that the file does not contain", grown)
	}
}

// resum edits the head of a file and corrects its checksum.
func resum(file []byte, edit func(head []byte)) []byte {
	file = slices.Clone(file)
	end := prefixLen + int(binary.LittleEndian.Uint32(file[len(stateMagic):]))
	edit(file[prefixLen:end])
	sum := sha256.Sum256(file[:end])
	copy(file[end:], sum[:])
	return file
}

// Load validates a head even if its checksum is correct.
func TestWrongHead(t *testing.T) {
	r, _, h := eventful(t)
	file := fileOf(t, r, h)
	first := 60
	put := func(at int, v byte) func([]byte) { return func(head []byte) { head[at] = v } }
	for name, edit := range map[string]func([]byte){
		"record 0":         func(head []byte) { clear(head[:8]) },
		"record 2^63":      put(7, 0x80),
		"epoch 2^63":       put(31, 0x80),
		"another dim":      put(48, 9),
		"three vectors":    put(56, 3),
		"long record 1":    put(first, 255),
		"huge record 1":    put(first+3, 255),
		"not a record":     put(first+4, 0),
		"another run":      put(first+4+25, 'G'),
		"rollback forward": func(head []byte) { head[len(head)-8] = 77 },
		"rollback to 0":    func(head []byte) { head[len(head)-8] = 0 },
		"rollbacks twice": func(head []byte) {
			copy(head[len(head)-16:], head[len(head)-32:len(head)-16])
		},
		"many rollbacks": put(len(file)-2*32-80-16*2-17-4, 200),
	} {
		if _, _, err := load(Config{Run: "golden"}, resum(file, edit)); !errors.Is(err, ErrState) {
			t.Errorf("%s: got %v, want %v", name, err, ErrState)
		}
	}
}

func TestSaveFails(t *testing.T) {
	if err := New(Config{Run: "golden"}).Save(io.Discard, History{}); !errors.Is(err, ErrOrder) {
		t.Errorf("before record 1: got %v, want %v", err, ErrOrder)
	}
	r, _, h := eventful(t)
	full := errors.New("disk full")
	for n := range 4 {
		if err := r.Save(&limitedWriter{n, full}, h); n < 4 && !errors.Is(err, full) {
			t.Errorf("write %d fails: got %v, want %v", n, err, full)
		}
	}
}

// A limitedWriter accepts a number of writes, then fails.
type limitedWriter struct {
	left int
	err  error
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.left--; l.left < 0 {
		return 0, l.err
	}
	return len(p), nil
}

// If there are more rollbacks than a head can have, Save keeps the last rollbacks.
func TestManyRollbacks(t *testing.T) {
	r, _, h := eventful(t)
	h.Rollbacks = nil
	for n := range uint64(maxRollbacks + 3) {
		h.Rollbacks = append(h.Rollbacks, Rollback{n + 2, 1})
	}
	_, got, err := load(Config{Run: "golden"}, fileOf(t, r, h))
	if err != nil || !slices.Equal(got.Rollbacks, h.Rollbacks[3:]) {
		t.Errorf("got %d rollbacks, %v, want the last %d", len(got.Rollbacks), err, maxRollbacks)
	}
}

// FuzzLoad: if Load accepts a file, Save writes the same bytes again.
func FuzzLoad(f *testing.F) {
	r, h := ended(f)
	file := fileOf(f, r, h)
	f.Add(file[prefixLen:])
	f.Add([]byte{})
	r, c, _ := eventful(f)
	c.simple(1)
	f.Add(fileOf(f, r, History{})[prefixLen:])
	f.Fuzz(func(t *testing.T, data []byte) {
		// Correct the checksum if the file has room for one, so that the fuzzer gets past the check.
		file := append([]byte(stateMagic), 0, 0, 0, 0)
		if tail := 2*sumLen + 4*10*2; len(data) > tail {
			binary.LittleEndian.PutUint32(file[len(stateMagic):], uint32(len(data)-tail))
		}
		file = append(file, data...)
		if len(data) > 2*sumLen+80 {
			file = resum(file, func([]byte) {})
		}
		r, h, err := load(Config{Run: "golden"}, file)
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

// Loading and saving allocate little more than the replica.
func TestStateMemory(t *testing.T) {
	p := basePlan()
	p.Dim, p.Rule, p.Beta = 1<<20, plan.Momentum, 0.5
	r := New(Config{Run: p.Run})
	mustApply(t, r, newChain(p.Run).plan(p))
	file := fileOf(t, r, History{})
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const slack = 128 << 10
	if got := allocated(func() { r.Save(io.Discard, History{}) }); got > slack {
		t.Errorf("saving allocates %d bytes, want at most %d", got, slack)
	}
	if got := allocated(func() { load(Config{Run: p.Run}, file) }); got > 8<<20+slack {
		t.Errorf("loading allocates %d bytes, want at most %d", got, 8<<20+slack)
	}
}
