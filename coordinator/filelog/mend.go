package filelog

import (
	"fmt"
	"io"
	"slices"

	"github.com/zofl/zofl/internal/disk"
)

// lost says whether the file has bytes after the last readable record, and later records were once
// stored. Bytes in place of lost records are no unfinished append, so mend does not cut them off
// before a person accepts the loss.
func (f *Log) lost() bool { return f.size < f.log.size && f.seen.n > f.tail.N }

// mend cuts the file of records after its last record, unless records were lost. mend first copies
// the bytes that it cuts off to another file.
func (f *Log) mend() error {
	torn := f.log.size - f.size
	note := fmt.Sprintf("log: %s of an unfinished record %d at its end", inBytes(torn), f.tail.N+1)
	if f.fixed || f.lost() {
		if torn > 0 {
			f.notes = append(f.notes, note)
		}
		return nil
	}
	if torn > 0 {
		kept, err := f.keepCut()
		if err != nil {
			return err
		}
		f.notes = append(f.notes, note+", cut off and kept in the file "+kept)
	}
	last := int64(0) // where the last append begins
	if n := len(f.offsets); n > 0 {
		last = f.offsets[n-1]
	}
	return f.log.settle(last, f.size)
}

// keepCut copies the bytes after the last record into a new file, and returns the name of that
// file.
func (f *Log) keepCut() (name string, err error) {
	there, err := f.fs.ReadDir(f.dir)
	if err != nil {
		return "", err
	}
	for i := 1; name == "" || slices.Contains(there, name); i++ {
		name = fmt.Sprintf("log.cut-%d", i)
	}
	return name, disk.Replace(f.fs, f.path(name), func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(f.log.file, f.size, f.log.size-f.size))
		return err
	})
}

// inBytes writes a size: 1 byte, 5 bytes.
func inBytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
