package filelog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/runlog/logtest"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire"
)

func openLog(t testing.TB, dir string) *Log {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func closeLog(t testing.TB, f *Log) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLogs runs the tests that every log must pass.
func TestLogs(t *testing.T) {
	logtest.Run(t, logtest.Config{Place: func(t testing.TB, _ string) logtest.Opener {
		dir := filepath.Join(t.TempDir(), "new", "run")
		return func(context.Context) (runlog.Log, error) { return asLog(Open(dir)) }
	}})
}

// asLog returns a nil interface after an error.
func asLog(log *Log, err error) (runlog.Log, error) {
	if err != nil {
		return nil, err
	}
	return log, nil
}

// Read returns many records as they were appended, whatever record it begins with.
func TestManyRecords(t *testing.T) {
	log, records := openLog(t, t.TempDir()), chaintest.Records(t, 700)
	chaintest.Check(t, log, nil)
	chaintest.Append(t, log, records)
	chaintest.Check(t, log, records)
	for _, n := range []uint64{0, 1, 700, 702} {
		if err := log.Append(t.Context(), n, records[1]); !errors.Is(err, runlog.ErrOrder) {
			t.Errorf("Append(%d): %v, want ErrOrder", n, err)
		}
	}
}

func TestFileLogReopens(t *testing.T) {
	dir, records := t.TempDir(), chaintest.Records(t, 6)
	for i, r := range records {
		f := openLog(t, dir)
		chaintest.Check(t, f, records[:i])
		chaintest.Append(t, f, [][]byte{r})
		if err := f.AddMembers(t.Context(), []string{fmt.Sprintf("m%d", i)}); err != nil {
			t.Fatal(err)
		}
		closeLog(t, f)
	}
	f := openLog(t, dir)
	chaintest.Check(t, f, records)
	if got, err := f.Members(); err != nil ||
		!slices.Equal(got, []string{"m0", "m1", "m2", "m3", "m4", "m5"}) {
		t.Errorf("Members() = %v, %v", got, err)
	}
}

func TestFileLogRefusesWhatDoesNotFollow(t *testing.T) {
	f, records := openLog(t, t.TempDir()), chaintest.Records(t, 3)
	chaintest.Append(t, f, records[:1])
	if err := f.Append(t.Context(), 2, records[2]); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("append of record 3 as 2: %v, want ErrCorrupt", err)
	}
	chaintest.Append(t, f, records[1:])
	chaintest.Check(t, f, records)
}

func TestFileLogIsLocked(t *testing.T) {
	dir := t.TempDir()
	f := openLog(t, dir)
	if _, err := Open(dir); !errors.Is(err, runlog.ErrLocked) {
		t.Errorf("second open: %v, want ErrLocked", err)
	}
	closeLog(t, f)
	openLog(t, dir)
}

// written writes a log with records, and returns the path and the bytes of its file.
func written(t testing.TB, records [][]byte) (path string, b []byte) {
	t.Helper()
	dir := t.TempDir()
	f := openLog(t, dir)
	chaintest.Append(t, f, records)
	closeLog(t, f)
	path = filepath.Join(dir, "log")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFileLogCutsATornTail(t *testing.T) {
	records := chaintest.Records(t, 5)
	path, whole := written(t, records)
	last := len(whole) - len(appendFrame(nil, records[4]))
	for cut := last; cut < len(whole); cut++ {
		// After a crash, the file may have a part of the last append, and perhaps zeros in place of bytes
		// that were not written yet.
		zeros := append(bytes.Clone(whole[:cut]), make([]byte, len(whole)-cut)...)
		tails := [][]byte{whole[:cut]}
		if cut == last {
			tails = append(tails, zeros)
		}
		for _, tail := range tails {
			writeFile(t, path, tail)
			f := openLog(t, filepath.Dir(path))
			chaintest.Check(t, f, records[:4])
			chaintest.Append(t, f, records[4:])
			closeLog(t, f)
			if got, _ := os.ReadFile(path); !bytes.Equal(got, whole) {
				t.Fatalf("cut at %d: after another append the file differs", cut)
			}
		}
	}
}

func TestFileLogCutsAnUnwrittenSector(t *testing.T) {
	records := chaintest.Records(t, 2)
	records = append(records, longRecord(records, 1))
	path, whole := written(t, records)
	for _, sectorAt := range []int{1024, 1536, 2048} {
		b := bytes.Clone(whole)
		clear(b[sectorAt : sectorAt+disk.Sector])
		writeFile(t, path, b)
		f := openLog(t, filepath.Dir(path))
		chaintest.Check(t, f, records[:2])
		closeLog(t, f)
	}
}

// Open does not treat a sector of zeros as an unfinished append if records follow it.
func TestFileLogKeepsWhatFollowsALostSector(t *testing.T) {
	records := chaintest.Records(t, 2)
	records = append(records, longRecord(records, 1))
	records = append(records, longRecord(records, 2))
	path, whole := written(t, records)
	clear(whole[1024 : 1024+disk.Sector])
	writeFile(t, path, whole)
	if _, err := Open(filepath.Dir(path)); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("open: %v, want ErrCorrupt", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%d bytes, %v, want the file as it was", len(got), err)
	}
}

// longRecord returns a record that follows, with 4000 bytes of scalars.
func longRecord(records [][]byte, scalar byte) []byte {
	r := wire.Record{N: uint64(len(records)) + 1, Epoch: 1, Kind: wire.KindRound,
		Prev: wire.HashRecord(records[len(records)-1]),
		Round: &wire.Round{StepSize: 1, Terms: []wire.Term{{Scalars: bytes.Repeat([]byte{scalar},
			4000)}}}}
	return r.Append(nil)
}

func TestFileLogKeepsZeros(t *testing.T) {
	records := chaintest.Records(t, 2)
	records = append(records, longRecord(records, 0))
	path, whole := written(t, records)
	start := len(whole) - len(appendFrame(nil, records[2]))
	for at := start; at < start+frameWord; at++ {
		b := bytes.Clone(whole)
		b[at] ^= 4
		writeFile(t, path, b)
		if _, err := Open(filepath.Dir(path)); !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("byte %d of the head changed: %v, want ErrCorrupt", at-start, err)
		}
	}
}

func TestFileLogRefusesCorruption(t *testing.T) {
	records := chaintest.Records(t, 5)
	path, whole := written(t, records)
	start := len(logHead)
	for i, r := range records {
		end := start + len(appendFrame(nil, r))
		for at := start; at < end; at += 3 {
			b := bytes.Clone(whole)
			b[at] ^= 0x10
			writeFile(t, path, b)
			_, err := Open(filepath.Dir(path))
			if want := fmt.Sprintf("record %d at byte %d:", i+1, start); !errors.Is(err,
				runlog.ErrCorrupt) ||
				!strings.Contains(err.Error(), want) {
				t.Fatalf("byte %d changed: %v, want ErrCorrupt and %q", at, err, want)
			}
		}
		start = end
	}
	for name, b := range map[string][]byte{
		"a record twice": append(bytes.Clone(whole), appendFrame(nil, records[4])...),
		"a record missing": append(whole[:len(whole)-len(appendFrame(nil,
			records[4]))-len(appendFrame(nil, records[3]))], appendFrame(nil, records[4])...),
		"another head":    []byte("zofl log 2\n"),
		"a head of zeros": make([]byte, 40),
	} {
		writeFile(t, path, b)
		if _, err := Open(filepath.Dir(path)); !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
}

func TestFileLogDamagedWhileOpen(t *testing.T) {
	records := chaintest.Records(t, 5)
	path, whole := written(t, records)
	f := openLog(t, filepath.Dir(path))
	b := bytes.Clone(whole)
	b[len(b)-1] ^= 1
	writeFile(t, path, b)
	reads := 0
	err := f.Read(t.Context(), 1, func(uint64, []byte) bool { reads++; return true })
	if !errors.Is(err, runlog.ErrCorrupt) || reads != 4 {
		t.Errorf("%d records, %v, want 4 and ErrCorrupt", reads, err)
	}
}

func TestRosterFile(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       []string
		err        error
	}{
		{"whole", oldRosterHead + "a\nb\n", []string{"a", "b"}, nil},
		{"torn line", oldRosterHead + "a\nb\nc", []string{"a", "b"}, nil},
		{"zeros", oldRosterHead + "a\n\x00\x00", []string{"a"}, nil},
		{"torn head", oldRosterHead[:5], nil, nil},
		{"empty", "", nil, nil},
		{"not an id", oldRosterHead + "a\n\x00\nb\n", nil, runlog.ErrCorrupt},
		{"another head", "zofl roster 7\n", nil, runlog.ErrCorrupt},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "roster"), []byte(test.file))
			f, err := Open(dir)
			if !errors.Is(err, test.err) || err != nil {
				if !errors.Is(err, test.err) || test.err == nil {
					t.Fatalf("open: %v, want %v", err, test.err)
				}
				return
			}
			defer f.Close()
			if err := f.AddMembers(t.Context(), []string{"x", "y"}); err != nil {
				t.Fatal(err)
			}
			closeLog(t, f)
			got, err := openLog(t, dir).Members()
			if want := append(test.want, "x", "y"); err != nil || !slices.Equal(got, want) {
				t.Errorf("Members() = %v, %v, want %v", got, err, want)
			}
		})
	}
}

func BenchmarkFileLogAppend(b *testing.B) {
	f := openLog(b, b.TempDir())
	first := chaintest.Records(b, 1)
	chaintest.Append(b, f, first)
	prev := wire.HashRecord(first[0])
	record := wire.Record{Epoch: 1, Kind: wire.KindRound,
		Round: &wire.Round{StepSize: 1, Perturbations: 10,
			Terms: []wire.Term{{Scalars: make([]byte, 40)}}}}
	for b.Loop() {
		record.N, record.Prev = f.Last()+1, prev
		encoded := record.Append(nil)
		if err := f.Append(b.Context(), record.N, encoded); err != nil {
			b.Fatal(err)
		}
		prev = wire.HashRecord(encoded)
	}
}

func BenchmarkFileLogOpen(b *testing.B) {
	const records = 10_000
	path := filepath.Join(b.TempDir(), "log")
	frames := []byte(logHead)
	for _, r := range chaintest.Records(b, records) {
		frames = appendFrame(frames, r)
	}
	writeFile(b, path, frames)
	b.SetBytes(int64(len(frames)))
	for b.Loop() {
		f, err := Open(filepath.Dir(path))
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
