package files

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zofl/zofl/plan"
)

// A file of a client holds a magic, the lengths of run and id in a byte each, run, id, the content,
// and the SHA-256 of all bytes before it.

// Overhead bounds the bytes of a file other than its magic and its content.
const Overhead = 2 + 2*plan.MaxName + sha256.Size

// Head returns the bytes before the content of a file of this client.
func (s *Keeper) Head(magic string) []byte {
	b := append([]byte(magic), byte(len(s.cfg.Run)), byte(len(s.cfg.ID)))
	return append(append(b, s.cfg.Run...), s.cfg.ID...)
}

// SaveFile stores a file. Pass its error to [Keeper.Check].
func (s *Keeper) SaveFile(item, magic string, content []byte) error {
	file := append(s.Head(magic), content...)
	sum := sha256.Sum256(file)
	file = append(file, sum[:]...)
	return s.Save(item, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
}

// LoadFile calls take with the content of a file, if there is one. LoadFile sets aside a file that
// is longer than most bytes, is not this client's, or for which take returns bad. An error of
// LoadFile is an error of Report.
func (s *Keeper) LoadFile(item, magic string, most int, bad error, take func([]byte) error) error {
	return s.Loaded(item, bad, s.Load(item, func(r *io.SectionReader) error {
		if r.Size() > int64(most) {
			return fmt.Errorf("%w: %d bytes", bad, r.Size())
		}
		file := make([]byte, r.Size())
		if _, err := io.ReadFull(r, file); err != nil {
			return err
		}
		content, fault := s.content(magic, file)
		if fault != "" {
			return fmt.Errorf("%w: %s", bad, fault)
		}
		return take(content)
	}))
}

// Loaded handles the result of reading an item that an earlier process may have left. Loaded sets
// the item aside if err matches bad. An error of Loaded is an error of Report.
func (s *Keeper) Loaded(item string, bad, err error) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, bad):
		return s.Discard(item, err)
	}
	return s.Check(item, err)
}

// content returns the content of a file, or a text that says what is wrong with the file.
func (s *Keeper) content(magic string, file []byte) (content []byte, fault string) {
	head := s.Head(magic)
	if len(file) < len(head)+sha256.Size || !bytes.Equal(file[:len(head)], head) {
		return nil, "another run, id or format"
	}
	body, sum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, "the checksum is wrong"
	}
	return body[len(head):], ""
}
