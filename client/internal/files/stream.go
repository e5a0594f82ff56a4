package files

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/zofl/zofl/wire"
)

// A large file also holds, between the head and the content, the hash of record 1, because the
// content belongs to one plan. A keeper writes and reads a large file piece by piece.

// SaveStream stores a large file. write need not check for errors. Pass the error of SaveStream to
// [Keeper.Check].
func (s *Keeper) SaveStream(item, magic string, plan wire.Hash, write func(io.Writer)) error {
	return s.Save(item, func(file io.Writer) error {
		sum := sha256.New()
		w := bufio.NewWriter(io.MultiWriter(file, sum))
		w.Write(s.Head(magic)) // w keeps the first error
		w.Write(plan[:])
		write(w)
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := file.Write(sum.Sum(nil))
		return err
	})
}

// LoadStream calls take with the content of a large file, of size bytes, if there is one.
// LoadStream sets aside a file of another client or plan, and a file for which take returns bad. An
// error of LoadStream is an error of Report.
func (s *Keeper) LoadStream(item, magic string, plan wire.Hash, bad error,
	take func(r io.Reader, size int64) error,
) error {
	return s.Loaded(item, bad, s.Load(item, func(file *io.SectionReader) error {
		head := append(s.Head(magic), plan[:]...)
		size := file.Size() - int64(len(head)+sha256.Size)
		got := make([]byte, len(head))
		switch _, err := io.ReadFull(file, got); {
		case size < 0 || err == nil && !bytes.Equal(got, head):
			return fmt.Errorf("%w: another run, id, plan or format", bad)
		case err != nil:
			return err
		}
		if err := checkSum(file, bad); err != nil {
			return err
		}
		content := io.NewSectionReader(file, int64(len(head)), size)
		return take(bufio.NewReader(content), size)
	}))
}

// checkSum checks the SHA-256 at the end of a file.
func checkSum(file *io.SectionReader, bad error) error {
	sum, want, body := sha256.New(), make([]byte, sha256.Size), file.Size()-sha256.Size
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, body)); err != nil {
		return err
	}
	if _, err := file.ReadAt(want, body); err != nil && err != io.EOF {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return fmt.Errorf("%w: the checksum is wrong", bad)
	}
	return nil
}
