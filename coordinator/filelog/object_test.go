package filelog

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

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk/disktest"
)

func TestObjectsThatChanged(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir)
	good := chaintest.Vector(1, 2, 3)
	name := runlog.NameOf(2, 1, good)
	if err := log.PutObject(t.Context(), name, good); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, good[:8], append(slices.Clone(good), 0),
		chaintest.Vector(1, 2, 4)} {
		if err := os.WriteFile(filepath.Join(dir, "objects", name.String()), bad,
			0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := log.Object(t.Context(), name); !isDamaged(err) {
			t.Errorf("%d bytes: %v, want ErrCorrupt, and the record once", len(bad), err)
		}
	}
}

func isDamaged(err error) bool {
	return errors.Is(err, runlog.ErrCorrupt) && strings.Count(err.Error(), "record 2") == 1
}

// bookObjects stores three vectors and deletes the first, on a disk that fails. stored gets the
// names of the vectors that the log must hold.
func bookObjects(t testing.TB, d *disktest.Disk, vectors [][]byte,
	stored map[runlog.ObjectName]bool) (errs []error) {
	clear(stored)
	log, err := openOn(d, bookDir)
	if err != nil {
		return []error{err}
	}
	for i, b := range vectors {
		name := runlog.NameOf(uint64(i+2), 1, b)
		if err := log.PutObject(t.Context(), name, b); err != nil {
			errs = append(errs, err)
		} else {
			stored[name] = true
		}
		if i == 1 {
			first := runlog.NameOf(2, 1, vectors[0])
			delete(stored, first)
			errs = append(errs, log.KeepObjects(t.Context(), 3, []runlog.ObjectName{name}))
		}
	}
	return append(errs, log.Close())
}

// After PutObject returns nil, the vector survives a power cut at any moment. Open removes the rest
// of an unfinished vector.
func TestObjectsSurviveCrashes(t *testing.T) {
	vectors := [][]byte{chaintest.Vector(1, 2),
		chaintest.RandomVector(rand.New(rand.NewPCG(1, 1)), 300), chaintest.Vector(5)}
	stored := map[runlog.ObjectName]bool{}
	check := func(d *disktest.Disk) {
		log, err := openOn(d, bookDir)
		if err != nil {
			t.Fatalf("%v\n%s", err, d.Trace())
		}
		defer log.Close()
		for i, b := range vectors {
			name := runlog.NameOf(uint64(i+2), 1, b)
			got, err := log.Object(t.Context(), name)
			if err == nil && bytes.Equal(got, b) || errors.Is(err, runlog.ErrNoObject) &&
				!stored[name] {
				continue
			}
			t.Errorf("vector of record %d, stored %t: %d bytes, %v\n%s", name.N, stored[name],
				len(got), err, d.Trace())
		}
		files, err := d.ReadDir(bookDir + "/objects")
		if err != nil {
			return // the folder does not exist yet
		}
		for _, f := range files {
			if _, ok := runlog.ParseObjectName(f); !ok {
				t.Errorf("%s is left\n%s", f, d.Trace())
			}
		}
	}
	for d := range disktest.Crashes(func(d *disktest.Disk) { bookObjects(t, d, vectors, stored) }) {
		check(d)
	}
	var errs []error
	for d := range disktest.Faults(syscall.EIO,
		func(d *disktest.Disk) { errs = bookObjects(t, d, vectors, stored) }) {
		if d.Failing() != (errors.Join(errs...) == nil) {
			t.Errorf("%v\n%s", errs, d.Trace())
		}
		for state := range d.States() {
			check(state)
		}
	}
}
