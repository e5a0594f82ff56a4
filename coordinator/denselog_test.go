package coordinator

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
)

// New refuses a log that stores no vectors before a run of transport=dense begins.
func TestDenseRunNeedsObjects(t *testing.T) {
	b := bus.NewMemory()
	defer b.Close()
	bare := struct{ runlog.Log }{&runlog.Memory{}}
	if _, err := New(t.Context(), Config{Plan: densePlan(t, 1), Log: bare, Bus: b}); !errors.Is(err,
		runlog.ErrConfig) {
		t.Errorf("%v, want ErrConfig", err)
	}
	if _, err := New(t.Context(), Config{Plan: chaintest.Plan(t), Log: bare, Bus: b}); err != nil {
		t.Errorf("a run of scalars: %v", err)
	}
	if _, err := New(t.Context(), Config{Plan: chaintest.Plan(t), Log: bare, Bus: b,
		UploadMemory: -1}); !errors.Is(err, runlog.ErrConfig) {
		t.Errorf("negative memory: %v, want ErrConfig", err)
	}
}

// A copy has the vectors that the log keeps, except those that it has lost.
func TestCopyLogCopiesObjects(t *testing.T) {
	log := denseLog(t, densePlan(t, 1, "dense_keep=3"), 6)
	p, err := runlog.Replay(t.Context(), log, log.Last(), func([]byte) {})
	if err != nil {
		t.Fatal(err)
	}
	names := p.Vectors()
	data := map[runlog.ObjectName][]byte{}
	for _, name := range names {
		if data[name], err = log.Object(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.KeepObjects(t.Context(), log.Last(),
		slices.Delete(slices.Clone(names), 1, 2)); err != nil {
		t.Fatal(err)
	}
	for _, dst := range []runlog.Log{&runlog.Memory{}, openFile(t, t.TempDir())} {
		for range 2 {
			if err := runlog.Copy(t.Context(), dst, log, nil); err != nil {
				t.Fatal(err)
			}
		}
		for i, name := range names {
			got, err := dst.(runlog.Objects).Object(t.Context(), name)
			if i == 1 && !errors.Is(err, runlog.ErrNoObject) || i != 1 &&
				(err != nil || !bytes.Equal(got, data[name])) {
				t.Errorf("%T: vector of record %d: %v", dst, name.N, err)
			}
		}
	}
	for _, logs := range [][2]runlog.Log{{struct{ runlog.Log }{&runlog.Memory{}}, log},
		{&runlog.Memory{}, struct{ runlog.Log }{log}}} {
		if err := runlog.Copy(t.Context(), logs[0], logs[1], nil); !errors.Is(err,
			runlog.ErrConfig) || logs[0].Last() > 0 {
			t.Errorf("a log without vectors: %v, want ErrConfig", err)
		}
	}
	if err := log.PutObject(t.Context(), names[0], chaintest.Vector(8)); err != nil {
		t.Fatal(err)
	}
	if err := runlog.Copy(t.Context(), &runlog.Memory{}, log, nil); !errors.Is(err,
		runlog.ErrCorrupt) {
		t.Errorf("a damaged vector: %v, want ErrCorrupt", err)
	}
}
