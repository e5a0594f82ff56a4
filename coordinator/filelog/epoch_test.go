package filelog

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

func begin(t testing.TB, log runlog.Log, want uint64) {
	t.Helper()
	if got, err := log.Begin(t.Context()); got != want || err != nil {
		t.Errorf("Begin() = %d, %v, want %d", got, err, want)
	}
}

// ofEpoch returns the first record of a run, and a second one of the given epoch.
func ofEpoch(t testing.TB, epoch uint64) [][]byte {
	t.Helper()
	records := chaintest.Records(t, 1)
	second := wire.Record{N: 2, Epoch: epoch, Kind: wire.KindRound,
		Prev:  wire.HashRecord(records[0]),
		Round: &wire.Round{StepSize: 1, Terms: []wire.Term{{Scalars: make([]byte, 4)}}}}
	return append(records, second.Append(nil))
}

func TestFileLogBegins(t *testing.T) {
	dir := t.TempDir()
	f := openLog(t, dir)
	begin(t, f, 1)
	begin(t, f, 2)
	closeLog(t, f)
	f = openLog(t, dir)
	begin(t, f, 3)
	chaintest.Append(t, f, ofEpoch(t, 7))
	begin(t, f, 8)
	closeLog(t, f)
	// An earlier version wrote logs without a file for the epoch.
	if err := os.Remove(filepath.Join(dir, "epoch")); err != nil {
		t.Fatal(err)
	}
	f = openLog(t, dir)
	begin(t, f, 8)
	begin(t, f, 9)
	if f.Lost() != nil {
		t.Error("Lost() is a channel, want nil: the lock keeps others out")
	}
}

func TestFileLogEpochFile(t *testing.T) {
	for _, test := range []struct {
		text string
		want uint64 // of Begin; 0: ErrCorrupt
	}{
		{fmt.Sprintf(epochFormat, 41), 42},
		{fmt.Sprintf(epochFormat, uint64(math.MaxUint64-1)), math.MaxUint64},
		{fmt.Sprintf(epochFormat, uint64(1)), 6}, // an old copy: the records have a larger one
		{"zofl epoch 1\n41\n51\n", 0},
		{"zofl epoch 1\n41\n41\n\n", 0},
		{"zofl epoch 1\n+41\n+41\n", 0},
		{"zofl epoch 1\n18446744073709551616\n18446744073709551616\n", 0},
		{"zofl epoch 1\n41\n", 0},
		{"zofl epoch 2\n41\n41\n", 0},
		{"", 0},
		{strings.Repeat("\x00", 19), 0},
		{strings.Repeat("1", 1000), 0},
	} {
		dir := t.TempDir()
		f := openLog(t, dir)
		chaintest.Append(t, f, ofEpoch(t, 5))
		closeLog(t, f)
		writeFile(t, filepath.Join(dir, "epoch"), []byte(test.text))
		if test.want > 0 {
			f := openLog(t, dir)
			begin(t, f, test.want)
			continue
		}
		_, err := Open(dir)
		if !errors.Is(err, runlog.ErrCorrupt) ||
			!strings.Contains(err.Error(), "write into it a number") {
			t.Errorf("%q: %v, want ErrCorrupt and what to do", test.text, err)
		}
	}
}

func TestFileLogHasNoMoreEpochs(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "epoch"), fmt.Appendf(nil, epochFormat, uint64(math.MaxUint64)))
	if epoch, err := openLog(t, dir).Begin(t.Context()); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("Begin() = %d, %v, want ErrCorrupt", epoch, err)
	}
}
