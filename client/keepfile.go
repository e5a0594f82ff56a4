package client

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zofl/zofl/wire"
)

// A file of this device's own is a magic, the lengths of run and id in a byte each,
// run, id, what it holds, and the SHA-256 of all that. fileMost is the most that it takes
// besides its magic and what it holds.
const fileMost = 2 + 2*wire.MaxName + sha256.Size

// fileHead returns what a file of this device begins with.
func (c *Client) fileHead(magic string) []byte {
	b := append([]byte(magic), byte(len(c.cfg.Run)), byte(len(c.cfg.ID)))
	return append(append(b, c.cfg.Run...), c.cfg.ID...)
}

// keepFile makes a file durable, to which it adds the sum.
func (c *Client) keepFile(item string, file []byte) error {
	sum := sha256.Sum256(file)
	file = append(file, sum[:]...)
	return c.keeper.save(item, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
}

// openFile hands to take what a file of at most so many bytes holds, if there is one. One
// that is not this device's, or that take refuses with bad, is set aside.
func (c *Client) openFile(item, magic string, most int, bad error, take func(held []byte) error) error {
	err := c.keeper.load(item, func(r *io.SectionReader) error {
		if r.Size() > int64(most) {
			return fmt.Errorf("%w: %d bytes", bad, r.Size())
		}
		file := make([]byte, r.Size())
		if _, err := io.ReadFull(r, file); err != nil {
			return err
		}
		held, fault := c.held(magic, file)
		if fault != "" {
			return fmt.Errorf("%w: %s", bad, fault)
		}
		return take(held)
	})
	return c.opened(item, bad, err)
}

// opened says what to do about the item of an earlier process after it was read, or was
// not there: one that is bad is set aside.
func (c *Client) opened(item string, bad, err error) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, bad):
		return c.discard(item, err)
	}
	return c.stored(item, err)
}

// held returns what a file holds, or what is wrong with the rest of it.
func (c *Client) held(magic string, file []byte) (held []byte, fault string) {
	head := c.fileHead(magic)
	if len(file) < len(head)+sha256.Size || !bytes.Equal(file[:len(head)], head) {
		return nil, "it begins otherwise"
	}
	body, sum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, "the checksum is wrong"
	}
	return body[len(head):], ""
}
