package filelog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/disk/disktest"
)

// folderFiles are the files of a log, in the order of FuzzFolder's arguments.
var folderFiles = []string{"log", "epoch", "roster", "seen"}

// FuzzFolder: whatever bytes the files of a log hold, Open opens the log or reports damage. Read
// then returns only records that follow each other.
func FuzzFolder(f *testing.F) {
	dir := f.TempDir()
	log := openLog(f, dir)
	if _, err := log.Begin(f.Context()); err != nil {
		f.Fatal(err)
	}
	chaintest.Append(f, log, chaintest.Records(f, 3))
	if err := log.AddMembers(f.Context(), []string{"a", "b"}); err != nil {
		f.Fatal(err)
	}
	if err := log.Close(); err != nil {
		f.Fatal(err)
	}
	var whole [4][]byte
	for i, name := range folderFiles {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		whole[i] = b
	}
	f.Add(whole[0], whole[1], whole[2], whole[3])
	f.Add(whole[0][:len(whole[0])-5], whole[1], whole[2], whole[3])
	f.Add(whole[0], []byte{}, []byte{}, []byte{})
	f.Add([]byte{}, whole[1], whole[2], whole[3])
	f.Fuzz(func(t *testing.T, a, b, c, d []byte) {
		fsys := disktest.New()
		if err := disk.MakeDir(fsys, "log"); err != nil {
			t.Fatal(err)
		}
		for i, content := range [][]byte{a, b, c, d} {
			if len(content) == 0 {
				continue
			}
			err := disk.Replace(fsys, filepath.Join("log", folderFiles[i]), func(w io.Writer) error {
				_, err := w.Write(content)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // the second Open sees the repairs of the first
			log, err := openOn(fsys, "log")
			if err != nil {
				damaged := errors.Is(err, runlog.ErrCorrupt) || errors.Is(err, runlog.ErrLeft) ||
					errors.As(err, new(*runlog.LossError)) || errors.Is(err, os.ErrNotExist)
				if !damaged {
					t.Errorf("error %v, want one that says the log is damaged", err)
				}
				continue
			}
			n := uint64(0)
			err = log.Read(t.Context(), 1, func(at uint64, record []byte) bool {
				if n++; at != n || len(record) == 0 {
					t.Errorf("record %d is the %dth, of %d bytes", at, n, len(record))
				}
				return true
			})
			if err != nil || n != log.Last() {
				t.Errorf("%d of %d records were read: %v", n, log.Last(), err)
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
