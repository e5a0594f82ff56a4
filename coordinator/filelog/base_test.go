package filelog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk/disktest"
	"github.com/zofl/zofl/wire"
)

// stateBytes stands for a state file. A log does not read the content of that file.
var stateBytes = bytes.Repeat([]byte("state"), 300)

func writeState(w io.Writer) error {
	_, err := w.Write(stateBytes)
	return err
}

// baseAfter returns the base after record n of a run, and the run's records.
func baseAfter(t *testing.T, n int) (b runlog.Base, records [][]byte) {
	t.Helper()
	records = chaintest.Records(t, 12)
	return runlog.Base{N: uint64(n), Hash: wire.HashRecord(records[n-1]), Epoch: 1,
		Rounds: uint64(n) - 1, First: records[0], Digest: [8]byte{7}}, records
}

// A log that begins with a state accepts the next record, and has no records before the state.
func TestLogBeginsWithAState(t *testing.T) {
	b, records := baseAfter(t, 5)
	dir := filepath.Join(t.TempDir(), "new")
	if err := Recover(dir, b, writeState); err != nil {
		t.Fatal(err)
	}
	for life := range uint64(3) {
		f := openLog(t, dir)
		begin(t, f, b.Epoch+1+life)
		if f.Last() != 5+2*life {
			t.Fatalf("life %d: Last() = %d", life, f.Last())
		}
		for n := f.Last() + 1; n <= 7+2*life; n++ {
			if err := f.Append(t.Context(), n, records[n-1]); err != nil {
				t.Fatal(err)
			}
		}
		for from := uint64(6); from <= f.Last()+1; from++ {
			n := from
			if err := f.Read(t.Context(), from, func(got uint64, record []byte) bool {
				if got != n || !bytes.Equal(record, records[n-1]) {
					t.Errorf("read record %d where %d was appended", got, n)
				}
				n++
				return true
			}); err != nil || n != f.Last()+1 {
				t.Errorf("read from %d to %d: %v", from, n, err)
			}
		}
		for _, below := range []uint64{0, 1, 5} {
			if err := f.Read(t.Context(), below, nil); !errors.Is(err, runlog.ErrBelow) {
				t.Errorf("read from %d: %v, want ErrBelow", below, err)
			}
		}
		p, err := runlog.Replay(t.Context(), f, f.Last(), func([]byte) {})
		if err != nil || p.N != f.Last() || p.Rounds != f.Last()-1 || p.Begins != 5 {
			t.Errorf("position %+v, %v", p.Chain, err)
		}
		got := make([]byte, len(stateBytes))
		if _, err := f.State().ReadAt(got, 0); err != nil || !bytes.Equal(got, stateBytes) ||
			f.Base().Size != int64(len(stateBytes)) {
			t.Errorf("the state differs: %v", err)
		}
		if err := runlog.Copy(t.Context(), &runlog.Memory{}, f, nil); !errors.Is(err,
			runlog.ErrBelow) {
			t.Errorf("copy: %v, want ErrBelow", err)
		}
		closeLog(t, f)
	}
	if err := Recover(dir, b, writeState); !errors.Is(err, ErrRecords) {
		t.Errorf("over a log: %v, want ErrRecords", err)
	}
	if _, err := SetAside(dir); !errors.Is(err, ErrRecords) {
		t.Errorf("set aside: %v, want ErrRecords", err)
	}
}

// If Recover creates a log in place of one that lost its records, the new log keeps the roster and
// continues the epochs.
func TestRecoverKeepsTheRoster(t *testing.T) {
	b, records := baseAfter(t, 4)
	dir := t.TempDir()
	f := openLog(t, dir)
	for want := range uint64(6) {
		begin(t, f, want+1)
	}
	chaintest.Append(t, f, records[:9])
	if err := f.AddMembers(t.Context(), []string{"b", "a"}); err != nil {
		t.Fatal(err)
	}
	closeLog(t, f)
	if err := Recover(dir, b, writeState); !errors.Is(err, ErrRecords) {
		t.Errorf("a log with records: %v, want ErrRecords", err)
	}
	if err := os.Remove(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	if err := Recover(dir, b, writeState); err != nil {
		t.Fatal(err)
	}
	f = openLog(t, dir)
	begin(t, f, 7)
	if got, err := f.Members(); err != nil || !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("members %q, %v", got, err)
	}
	if err := runlog.CheckLoss(t.Context(), f, 0); err != nil {
		t.Error(err)
	}
}

// Open detects any damage to the files start and base.
func TestBaseDamageShows(t *testing.T) {
	b, _ := baseAfter(t, 5)
	for _, name := range []string{"start", "base"} {
		dir := t.TempDir()
		if err := Recover(dir, b, writeState); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged := [][]byte{whole[:len(whole)-1], whole[:10], nil, append(bytes.Clone(whole), 0)}
		for bit := 0; bit < 8*len(whole); bit += 7 + len(whole)/30 {
			flipped := bytes.Clone(whole)
			flipped[bit/8] ^= 1 << (bit % 8)
			damaged = append(damaged, flipped)
		}
		for _, content := range damaged {
			writeFile(t, path, content)
			if f, err := OpenReadOnly(dir); !errors.Is(err, runlog.ErrCorrupt) {
				t.Fatalf("%s of %d bytes: %v, want ErrCorrupt", name, len(content), err)
				closeLog(t, f)
			}
		}
	}
}

// A power cut during Recover leaves no log or a whole log. Without a log, Recover succeeds
// afterwards.
func TestRecoverPowerCuts(t *testing.T) {
	b, records := baseAfter(t, 5)
	made := error(nil)
	for d := range disktest.Crashes(func(d *disktest.Disk) {
		made = recoverOn(d, bookDir, b, writeState)
	}) {
		err := recoverOn(d, bookDir, b, writeState)
		if err != nil && !errors.Is(err, ErrRecords) || made == nil && err == nil {
			t.Fatalf("made: %v, then %v\n%s", made, err, d.Trace())
		}
		f, err := openOn(d, bookDir)
		if err != nil {
			t.Fatalf("%v\n%s", err, d.Trace())
		}
		if err := f.Append(t.Context(), 6, records[5]); err != nil || f.Last() != 6 {
			t.Fatalf("%d records, %v\n%s", f.Last(), err, d.Trace())
		}
		closeLog(t, f)
	}
}
