package filelog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

// If a frame's head is damaged and intact records follow, Open fails, its error names these
// records, and no byte changes. That holds wherever the damage is, and whatever the file "seen"
// says.
func TestRecordsBehindADamagedHead(t *testing.T) {
	const n = 40
	for _, test := range []struct {
		name        string
		record, off int // where the damage begins
		bytes       int
		with        byte
		says        string
	}{
		{"zeros to the end of a sector", 20, 0, 0, 0, "record 20 at byte "},
		{"zeros over three records", 20, 0, 250, 0, "intact records are behind it"},
		{"zeros, one record behind", 39, 0, 20, 0, "; record 40 is behind it, and intact"},
		{"zeros, two records behind", 38, 0, 20, 0, "; 2 intact records are behind it, from 39 to 40"},
		{"within the head", 20, 4, 3, 0xff, "; 20 intact records are behind it, from 21 to 40"},
		{"within the record", 20, 14, 3, 0xff, "; 20 intact records are behind it, from 21 to 40"},
		{"record 1", 1, 0, 12, 0, "; 39 intact records are behind it, from 2 to 40"},
		{"the file's beginning", 1, -len(logHead), len(logHead) + 12, 0,
			"; 39 intact records are behind it, from 2 to 40"},
	} {
		for _, seen := range []bool{true, false} {
			dir := ledLog(t, n, true)
			path := filepath.Join(dir, "log")
			b := mustRead(t, path)
			at := len(logHead) + test.off
			for _, r := range chaintest.Records(t, n)[:test.record-1] {
				at += len(appendFrame(nil, r))
			}
			size := test.bytes
			if size == 0 {
				size = disk.Sector - at%disk.Sector
			}
			copy(b[at:], bytes.Repeat([]byte{test.with}, size))
			writeFile(t, path, b)
			if !seen {
				writeFile(t, filepath.Join(dir, "seen"), seenText(uint64(test.record-1)))
			}
			for name, open := range map[string]func(string) (*Log, error){
				"read": OpenReadOnly, "led": Open,
			} {
				f, err := open(dir)
				if !errors.Is(err, runlog.ErrCorrupt) || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s, %s, noted %v: %v, want %q", test.name, name, seen, err, test.says)
				}
				if err == nil {
					closeLog(t, f)
				}
			}
			if !bytes.Equal(mustRead(t, path), b) {
				t.Errorf("%s, noted %v: the file has changed", test.name, seen)
			}
		}
	}
}

// If the last record was stored and then damaged, Open cuts nothing off until a person accepts the
// loss. Then Open keeps the bytes in another file.
func TestLostEndIsKept(t *testing.T) {
	records := chaintest.Records(t, 20)
	for name, spoil := range map[string]func(b []byte, last int) []byte{
		"cut":   func(b []byte, last int) []byte { return b[:last+30] },
		"zeros": func(b []byte, last int) []byte { clear(b[last:]); return b },
		"empty": func(b []byte, last int) []byte { return append(b[:last], make([]byte, 5000)...) },
	} {
		dir := ledLog(t, 20, true)
		path := filepath.Join(dir, "log")
		whole := mustRead(t, path)
		last := len(whole) - len(appendFrame(nil, records[19]))
		b := spoil(whole, last)
		writeFile(t, path, b)
		f := openLog(t, dir)
		var loss *runlog.LossError
		for _, err := range []error{runlog.CheckLoss(t.Context(), f, 0),
			f.Append(t.Context(), 20, records[19])} {
			if !errors.As(err, &loss) || loss.Last != 19 || loss.Seen != 20 {
				t.Errorf("%s: %v, want the loss of record 20", name, err)
			}
		}
		begin(t, f, 2)
		closeLog(t, f)
		if got := mustRead(t, path); !bytes.Equal(got, b) {
			t.Fatalf("%s: %d bytes became %d", name, len(b), len(got))
		}
		f = openLog(t, dir)
		if err := f.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, path+".cut-1"); !bytes.Equal(got, b[last:]) {
			t.Errorf("%s: %d bytes are kept, want %d", name, len(got), len(b)-last)
		}
		if notes := f.Notes(); !strings.Contains(notes[len(notes)-1], "kept in the file log.cut-1") {
			t.Errorf("%s: notes %q", name, notes)
		}
		chaintest.Append(t, f, records[19:])
		closeLog(t, f)
		chaintest.Check(t, openLog(t, dir), records)
	}
}

// Open cuts off an append that a crash interrupted, and keeps the bytes in another file. Each time
// that file has another name.
func TestUnfinishedAppendIsKept(t *testing.T) {
	dir := ledLog(t, 5, true)
	path := filepath.Join(dir, "log")
	for i, tail := range []string{"abc", "abcdef"} {
		whole := mustRead(t, path)
		writeFile(t, path, append(bytes.Clone(whole), tail...))
		closeLog(t, openLog(t, dir))
		kept := mustRead(t, []string{path + ".cut-1", path + ".cut-2"}[i])
		if string(kept) != tail || !bytes.Equal(mustRead(t, path), whole) {
			t.Errorf("%q is kept, want %q, and the log as it was", kept, tail)
		}
	}
	if _, err := os.Stat(path + ".cut-3"); err == nil {
		t.Error("something else is kept")
	}
}

// TestOneByte: a note counts one byte as one.
func TestOneByte(t *testing.T) {
	dir := t.TempDir()
	f := openLog(t, dir)
	chaintest.Append(t, f, chaintest.Records(t, 3))
	closeLog(t, f)
	path := filepath.Join(dir, "log")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, append(b, 7))
	f = openLog(t, dir)
	defer closeLog(t, f)
	if notes := strings.Join(f.notes, ""); !strings.Contains(notes, "log: 1 byte of an") {
		t.Errorf("%q", notes)
	}
}
