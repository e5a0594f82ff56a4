package filelog

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/disk/disktest"
)

// An astrayDisk writes the bytes of the log's file to an offset that is too low by shift.
type astrayDisk struct {
	*disktest.Disk
	shift *int64
}

// Open implements [disk.FS].
func (d astrayDisk) Open(path string, flag int) (disk.File, error) {
	f, err := d.Disk.Open(path, flag)
	if err != nil || filepath.Base(path) != "log" {
		return f, err
	}
	return astrayFile{f, d.shift}, nil
}

type astrayFile struct {
	disk.File
	shift *int64
}

// WriteAt implements [io.WriterAt].
func (f astrayFile) WriteAt(b []byte, off int64) (int, error) {
	return f.File.WriteAt(b, off-*f.shift)
}

func writeAll(f disk.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

// TestAstrayWrite: an append that the disk wrote to another place of the file, and reported as
// done, is not acknowledged.
func TestAstrayWrite(t *testing.T) {
	records := chaintest.Records(t, 3)
	shift := int64(0)
	d := astrayDisk{disktest.New(), &shift}
	log, err := openOn(d, "run")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, record := range records[:2] {
		if err := log.Append(t.Context(), uint64(i+1), record); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := readWhole(d, "run/log")
	if err != nil {
		t.Fatal(err)
	}
	for _, shift = range []int64{1, 12, int64(len(records[2])), int64(len(whole) / 2)} {
		if err := log.Append(t.Context(), 3, records[2]); err == nil || log.Last() != 2 {
			t.Errorf("%d bytes too low: error %v, %d records; want an error, and 2", shift, err, log.Last())
		}
		shift = 0
		if err := log.Append(t.Context(), 3, records[2]); err == nil {
			t.Fatalf("record 2 is overwritten, and the log goes on")
		}
		f, err := d.Disk.Open("run/log", os.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(0), writeAll(f, whole), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Append(t.Context(), 3, records[2]); err != nil {
		t.Errorf("after the file was restored: %v", err)
	}
	chaintest.Check(t, log, records)
}
