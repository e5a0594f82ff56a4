package coordinator

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/disk/disktest"
	"github.com/zofl/zofl/wire"
)

func nameOf(n, epoch uint64, data []byte) ObjectName {
	return ObjectName{N: n, Epoch: epoch, Digest: wire.HashObject(data)}
}

func TestObjectNames(t *testing.T) {
	want := nameOf(12, 3, []byte("x"))
	if got, ok := parseObjectName(want.String()); !ok || got != want {
		t.Errorf("%v, %t", got, ok)
	}
	s := want.String()
	for _, bad := range []string{"", "x", s[:len(s)-1], s + "0", "0" + s, s + ".zofl-new", "-" + s, "lock"} {
		if got, ok := parseObjectName(bad); ok {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

// Both logs of one process keep vectors, and delete those that they are told to.
func TestLogsKeepObjects(t *testing.T) {
	for _, log := range []interface {
		Log
		Objects
	}{&MemoryLog{}, openLog(t, t.TempDir())} {
		ctx := t.Context()
		if err := log.KeepObjects(ctx, 9, nil); err != nil {
			t.Errorf("%T: nothing is deleted: %v", log, err)
		}
		var names []ObjectName
		data := map[ObjectName][]byte{}
		for n := uint64(2); n < 8; n++ {
			b := randomVector(rand.New(rand.NewPCG(n, 1)), 1000*int(n))
			name := nameOf(n, 1, b)
			names, data[name] = append(names, name), b
			if _, err := log.Object(ctx, name); !errors.Is(err, ErrNoObject) {
				t.Errorf("%T: before it is put: %v, want ErrNoObject", log, err)
			}
			for range 2 {
				if err := log.PutObject(ctx, name, b); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := log.KeepObjects(ctx, 6, names[2:4]); err != nil { // of 4 and 5; 7 is later
			t.Fatal(err)
		}
		for i, name := range names {
			got, err := log.Object(ctx, name)
			if kept := i == 2 || i == 3 || i == 5; kept && (err != nil || !bytes.Equal(got, data[name])) || !kept && !errors.Is(err, ErrNoObject) {
				t.Errorf("%T: vector of record %d: %d bytes, %v", log, name.N, len(got), err)
			}
		}
	}
}

func TestObjectsThatChanged(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir)
	good := vectorOf(1, 2, 3)
	name := nameOf(2, 1, good)
	if err := log.PutObject(t.Context(), name, good); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, good[:8], append(slices.Clone(good), 0), vectorOf(1, 2, 4)} {
		if err := os.WriteFile(filepath.Join(dir, "objects", name.String()), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := log.Object(t.Context(), name); !isDamaged(err) {
			t.Errorf("%d bytes: %v, want ErrCorrupt, and the record once", len(bad), err)
		}
	}
	memory := &MemoryLog{objects: map[ObjectName][]byte{name: vectorOf(1)}}
	if data, err := memory.Object(t.Context(), name); !isDamaged(err) || data != nil {
		t.Errorf("%d bytes, %v, want ErrCorrupt, and the record once", len(data), err)
	}
}

func isDamaged(err error) bool {
	return errors.Is(err, ErrCorrupt) && strings.Count(err.Error(), "record 2") == 1
}

// bookObjects puts three vectors and deletes the first, on a disk that fails; stored
// are those that are there for certain.
func bookObjects(t testing.TB, d *disktest.Disk, vectors [][]byte, stored map[ObjectName]bool) (errs []error) {
	clear(stored)
	log, err := OpenFileLogOn(d, bookDir)
	if err != nil {
		return []error{err}
	}
	for i, b := range vectors {
		name := nameOf(uint64(i+2), 1, b)
		if err := log.PutObject(t.Context(), name, b); err != nil {
			errs = append(errs, err)
		} else {
			stored[name] = true
		}
		if i == 1 {
			first := nameOf(2, 1, vectors[0])
			delete(stored, first)
			errs = append(errs, log.KeepObjects(t.Context(), 3, []ObjectName{name}))
		}
	}
	return append(errs, log.Close())
}

// What was put survives a power cut at any moment, whole, and what it left
// unfinished is gone once the log is opened.
func TestObjectsSurviveCrashes(t *testing.T) {
	vectors := [][]byte{vectorOf(1, 2), randomVector(rand.New(rand.NewPCG(1, 1)), 300), vectorOf(5)}
	stored := map[ObjectName]bool{}
	check := func(d *disktest.Disk) {
		log, err := OpenFileLogOn(d, bookDir)
		if err != nil {
			t.Fatalf("%v\n%s", err, d.Trace())
		}
		defer log.Close()
		for i, b := range vectors {
			name := nameOf(uint64(i+2), 1, b)
			got, err := log.Object(t.Context(), name)
			if err == nil && bytes.Equal(got, b) || errors.Is(err, ErrNoObject) && !stored[name] {
				continue
			}
			t.Errorf("vector of record %d, stored %t: %d bytes, %v\n%s", name.N, stored[name], len(got), err, d.Trace())
		}
		files, err := d.ReadDir(bookDir + "/objects")
		if err != nil {
			return // there is none yet
		}
		for _, f := range files {
			if _, ok := parseObjectName(f); !ok {
				t.Errorf("%s is left\n%s", f, d.Trace())
			}
		}
	}
	for d := range disktest.Crashes(func(d *disktest.Disk) { bookObjects(t, d, vectors, stored) }) {
		check(d)
	}
	var errs []error
	for d := range disktest.Faults(syscall.EIO, func(d *disktest.Disk) { errs = bookObjects(t, d, vectors, stored) }) {
		if d.Failing() != (errors.Join(errs...) == nil) {
			t.Errorf("%v\n%s", errs, d.Trace())
		}
		for state := range d.States() {
			check(state)
		}
	}
}

// A log that stores no vectors is refused before the run begins.
func TestDenseRunNeedsObjects(t *testing.T) {
	b := bus.NewMemory()
	defer b.Close()
	bare := struct{ Log }{&MemoryLog{}}
	if _, err := New(t.Context(), Config{Plan: densePlan(t, 1), Log: bare, Bus: b}); !errors.Is(err, ErrConfig) {
		t.Errorf("%v, want ErrConfig", err)
	}
	if _, err := New(t.Context(), Config{Plan: testPlan(t), Log: bare, Bus: b}); err != nil {
		t.Errorf("a run of scalars: %v", err)
	}
	if _, err := New(t.Context(), Config{Plan: testPlan(t), Log: bare, Bus: b, UploadMemory: -1}); !errors.Is(err, ErrConfig) {
		t.Errorf("negative memory: %v, want ErrConfig", err)
	}
}

// A copy has the vectors that the log keeps, but those that it lost.
func TestCopyLogCopiesObjects(t *testing.T) {
	log := denseLog(t, densePlan(t, 1, "dense_keep=3"), 6)
	p, err := replay(t.Context(), log, log.Last(), func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	names := p.vectors.all()
	delete(log.objects, names[1])
	for _, dst := range []Log{&MemoryLog{}, openLog(t, t.TempDir())} {
		for range 2 {
			if err := CopyLog(t.Context(), dst, log, nil); err != nil {
				t.Fatal(err)
			}
		}
		for i, name := range names {
			got, err := dst.(Objects).Object(t.Context(), name)
			if i == 1 && !errors.Is(err, ErrNoObject) || i != 1 && (err != nil || !bytes.Equal(got, log.objects[name])) {
				t.Errorf("%T: vector of record %d: %v", dst, name.N, err)
			}
		}
	}
	for _, logs := range [][2]Log{{struct{ Log }{&MemoryLog{}}, log}, {&MemoryLog{}, struct{ Log }{log}}} {
		if err := CopyLog(t.Context(), logs[0], logs[1], nil); !errors.Is(err, ErrConfig) || logs[0].Last() > 0 {
			t.Errorf("a log without vectors: %v, want ErrConfig", err)
		}
	}
	log.objects[names[0]] = vectorOf(8)
	if err := CopyLog(t.Context(), &MemoryLog{}, log, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a damaged vector: %v, want ErrCorrupt", err)
	}
}
