package filelog

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

var _ runlog.Memories = (*Log)(nil)

// seenFormat is the content of the file "seen", without the checksum line that follows it. The file
// holds the index of the last stored record, so that the log can detect the loss of its last
// records.
const seenFormat = "zofl seen 1\n%020d\n"

// A seenFile is the file "seen". Append overwrites the file in place, without a sync. Only Begin
// and Close sync the file, so a power cut may restore an older index. The file fits into one
// sector, so a power cut cannot leave half of a write. The file never names a record that was not
// stored.
//
// Invariant: file is nil until begin, and if absent is set, there is no file at path.
type seenFile struct {
	fs     disk.FS
	path   string
	n      uint64
	absent bool
	file   disk.File
}

func seenText(n uint64) []byte {
	text := fmt.Appendf(nil, seenFormat, n)
	return fmt.Appendf(text, "%08x\n", crc32.Checksum(text, castagnoli))
}

func readSeen(fsys disk.FS, path string) (*seenFile, error) {
	s := &seenFile{fs: fsys, path: path}
	text, err := readWhole(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		s.absent = true
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Sscanf(string(text), seenFormat, &s.n); err != nil ||
		string(text) != string(seenText(s.n)) {
		return nil, fmt.Errorf("seen: %w: checksum differs: remove the file if the log is whole",
			runlog.ErrCorrupt)
	}
	return s, nil
}

// begin stores n and opens the file for note.
func (s *seenFile) begin(n uint64) error {
	if s.absent {
		err := disk.Replace(s.fs, s.path, func(w io.Writer) error {
			_, err := w.Write(seenText(n))
			return err
		})
		if err != nil {
			return fmt.Errorf("seen: %w", err)
		}
		s.absent = false
	}
	if s.file == nil {
		file, err := s.fs.Open(s.path, os.O_RDWR)
		if err != nil {
			return err
		}
		s.file = file
	}
	if err := s.set(n); err != nil {
		return err
	}
	return s.file.Sync()
}

// note writes to the file that record n is stored. Before begin, note does nothing.
func (s *seenFile) note(n uint64) error {
	if s.file == nil || n <= s.n {
		return nil
	}
	return s.set(n)
}

func (s *seenFile) set(n uint64) error {
	s.n = n
	_, err := s.file.WriteAt(seenText(n), 0)
	return err
}

func (s *seenFile) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Sync(), s.file.Close())
}

// Seen implements [runlog.Memories].
func (f *Log) Seen(context.Context) (uint64, error) { return max(f.seen.n, f.Last()), nil }

// Forget implements [runlog.Memories].
func (f *Log) Forget(context.Context) error {
	if f.fixed {
		return errFixed
	}
	lost := f.lost()
	err := f.seen.begin(f.Last())
	if err == nil && lost {
		err = f.mend()
	}
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// Left implements [runlog.Memories].
func (f *Log) Left(context.Context) (string, error) {
	if f.Last() > 0 {
		return "", nil
	}
	return f.left, nil
}

// remains lists what the directory holds of a log besides records. An epoch alone counts only if
// the file "seen" is absent, because a coordinator that was killed before it stored record 1 leaves
// an epoch and the file "seen".
func (f *Log) remains() string {
	var left []string
	if n := len(f.roster.members); n > 0 {
		left = append(left, fmt.Sprintf("a roster of %d members", n))
	}
	if f.seen.n > 0 {
		left = append(left, fmt.Sprintf("the note that record %d was stored", f.seen.n))
	} else if f.seen.absent && f.epoch > 0 {
		left = append(left, fmt.Sprintf("epoch %d", f.epoch))
	}
	return strings.Join(left, ", ")
}
