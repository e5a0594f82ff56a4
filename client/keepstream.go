package client

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/zofl/zofl/wire"
)

// A file of numbers that a device found is as other files of its own, with the hash of
// record 1, whose plan they are of, before what it holds. It is written and read piece by
// piece.

// keepNumbers makes such a file durable.
func (c *Client) keepNumbers(item, magic string, of wire.Hash, write func(w io.Writer)) error {
	return c.keeper.save(item, func(file io.Writer) error {
		sum := sha256.New()
		w := bufio.NewWriter(io.MultiWriter(file, sum))
		w.Write(c.fileHead(magic)) // w keeps the first error
		w.Write(of[:])
		write(w)
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := file.Write(sum.Sum(nil))
		return err
	})
}

// openNumbers hands to take what such a file holds, size bytes, if there is one. One that
// is not this device's, is of another plan, or that take refuses with bad, is set aside.
func (c *Client) openNumbers(item, magic string, of wire.Hash, bad error, take func(r io.Reader, size int64) error) error {
	err := c.keeper.load(item, func(file *io.SectionReader) error {
		head := append(c.fileHead(magic), of[:]...)
		size := file.Size() - int64(len(head)+sha256.Size)
		got := make([]byte, len(head))
		switch _, err := io.ReadFull(file, got); {
		case size < 0 || err == nil && !bytes.Equal(got, head):
			return fmt.Errorf("%w: it begins otherwise", bad)
		case err != nil:
			return err
		}
		if err := checkSum(file, bad); err != nil {
			return err
		}
		return take(bufio.NewReader(io.NewSectionReader(file, int64(len(head)), size)), size)
	})
	return c.opened(item, bad, err)
}

// checkSum checks the sum at the end of a file.
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
