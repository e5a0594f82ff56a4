package filelog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/disk/disktest"
	"github.com/zofl/zofl/wire"
)

// handOver hands over a state with the record that the log is to get next.
func handOver(t *testing.T, f *Log, record, state []byte) {
	t.Helper()
	n, tip := f.Last()+1, wire.HashRecord(record).Tip()
	if err := f.HandOver(t.Context(), n, tip, state); err != nil {
		t.Fatal(err)
	}
}

// stateOf is the state that tests hand over with a record. It has the largest length for even
// records.
func stateOf(n uint64) []byte {
	if n == 0 {
		return nil
	}
	return bytes.Repeat([]byte{byte(n)}, max(1, int(1-n%2)*runlog.MaxHandover))
}

// A handing appends records with handovers, on a disk that may fail.
type handing struct {
	t       *testing.T
	records [][]byte
	acked   uint64
}

// story lets two coordinators append the records. Each tries again as long as the log has no
// record.
func (h *handing) story(d *disktest.Disk) {
	h.acked = 0
	for range 2 {
		f, err := openOn(d, bookDir)
		if err != nil {
			continue
		}
		_, err = f.Begin(h.t.Context())
		for tries := 0; err == nil && tries < 5 && f.Last() < uint64(len(h.records)); tries++ {
			n := f.Last() + 1
			record := h.records[n-1]
			if f.HandOver(h.t.Context(), n, wire.HashRecord(record).Tip(), stateOf(n)) == nil &&
				f.Append(h.t.Context(), n, record) == nil {
				h.acked = n
			}
		}
		_ = f.Close()
	}
}

// check checks that a disk has a log with all acknowledged records, and the last one's handover.
func (h *handing) check(d *disktest.Disk) {
	h.t.Helper()
	f, err := openOn(d, bookDir)
	if err != nil {
		h.t.Fatalf("%v\n%s", err, d.Trace())
	}
	state, err := f.HandedOver(h.t.Context())
	if last := f.Last(); err != nil || last < h.acked || !bytes.Equal(state, stateOf(last)) {
		h.t.Fatalf("record %d of %d acknowledged has the handover %x, %v\n%s", last, h.acked, state,
			err, d.Trace())
	}
	_ = f.Close()
}

// The power fails after each change in turn.
func TestHandoverPowerCuts(t *testing.T) {
	h, states := &handing{t: t, records: chaintest.Records(t, 4)}, 0
	for d := range disktest.Crashes(h.story) {
		states++
		h.check(d)
	}
	if states < 100 || h.acked != 4 {
		t.Errorf("%d states, %d records", states, h.acked)
	}
}

// Each operation fails once.
func TestHandoverFaults(t *testing.T) {
	h := &handing{t: t, records: chaintest.Records(t, 4)}
	for d := range disktest.Faults(syscall.EIO, h.story) {
		d.Kill()
		h.check(d)
	}
}

// TestHandoverFile pins the file.
func TestHandoverFile(t *testing.T) {
	want := "zofl handover 1\n00000000000000000006 0102030405060708 dHJlbmQ=\n461c0cb4\n"
	sector, err := handoverSector(6, wire.Tip{1, 2, 3, 4, 5, 6, 7, 8}, []byte("trend"))
	if got := strings.TrimRight(string(sector), "\x00"); err != nil || got != want {
		t.Errorf("a sector is %q, %v, want %q", got, err, want)
	}
	if len(sector) != disk.Sector {
		t.Errorf("a sector has %d bytes", len(sector))
	}
	if _, err := handoverSector(6, wire.Tip{}, make([]byte, runlog.MaxHandover+1)); err == nil {
		t.Error("a handover that is too long was taken")
	}
}

// A damaged sector of the last record is an error that says what to do. The other sector does not
// matter, and without the file the log has no handover.
func TestHandoverDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	f, records := openLog(t, dir), chaintest.Records(t, 3)
	begin(t, f, 1)
	for i, record := range records {
		handOver(t, f, record, stateOf(uint64(i)+1))
		chaintest.Append(t, f, records[i:i+1])
	}
	closeLog(t, f)
	path := filepath.Join(dir, "handover")
	whole := mustRead(t, path)
	read := func(content []byte) ([]byte, error) {
		writeFile(t, path, content)
		f := openLog(t, dir)
		defer closeLog(t, f)
		return f.HandedOver(t.Context())
	}
	used := len(bytes.TrimRight(whole[disk.Sector:], "\x00"))
	for at := range used {
		spoiled := bytes.Clone(whole)
		spoiled[disk.Sector+at] ^= 1 << (at % 8)
		state, err := read(spoiled)
		if !errors.Is(err, runlog.ErrCorrupt) || !strings.Contains(err.Error(), "remove the file") {
			t.Fatalf("byte %d: %x, %v", at, state, err)
		}
	}
	for at := range disk.Sector {
		spoiled := bytes.Clone(whole)
		spoiled[at] ^= 1 << (at % 8)
		if state, err := read(spoiled); err != nil || !bytes.Equal(state, stateOf(3)) {
			t.Fatalf("byte %d of the other sector: %x, %v", at, state, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f = openLog(t, dir)
	if state, err := f.HandedOver(t.Context()); state != nil || err != nil {
		t.Errorf("without the file: %x, %v", state, err)
	}
	closeLog(t, f)
}

// HandOver writes the file again if somebody removed it.
func TestHandoverGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	f, records := openLog(t, dir), chaintest.Records(t, 3)
	begin(t, f, 1)
	for i, record := range records {
		handOver(t, f, record, stateOf(uint64(i)+1))
		chaintest.Append(t, f, records[i:i+1])
		if i == 1 {
			if err := os.Remove(filepath.Join(dir, "handover")); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeLog(t, f)
	f = openLog(t, dir)
	if state, err := f.HandedOver(t.Context()); err != nil || !bytes.Equal(state, stateOf(3)) {
		t.Errorf("%x, %v", state, err)
	}
	closeLog(t, f)
}
