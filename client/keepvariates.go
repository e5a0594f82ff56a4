package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zofl/zofl/wire"
)

// errVariatesFile: the stored control variates are none that this device wrote.
var errVariatesFile = errors.New("no control variates of this device")

// A variates file is variatesMagic, the lengths of run and id in a byte each, run, id,
// for each variate, newest first, LE64 the record, its hash, LE32 the length of the
// scalars in bytes and these, then the SHA-256 of all that.
const (
	variatesMagic   = "zofl variates 1\n"
	variateHead     = 8 + len(wire.Hash{}) + 4
	variatesFileMax = len(variatesMagic) + 2 + 2*wire.MaxName + variatesKept*(variateHead+4*wire.MaxScalars) + sha256.Size
)

// keepVariates makes this device's control variates durable, where they changed. It
// comes before the next reply takes the place of the last, so that there is always
// either the variate or the reply that it was made of.
func (c *Client) keepVariates() error {
	v := &c.variates
	if c.keeper.store == nil || !v.unkept || c.replica.Plan().Control != wire.ScaffoldMean {
		return nil
	}
	file := c.variatesFile(v.list)
	err := c.keeper.save(itemVariates, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
	v.unkept = err != nil
	return c.stored(itemVariates, err)
}

func (c *Client) variatesFile(list []variate) []byte {
	file := c.variatesHead()
	for i := range list {
		e := &list[i]
		file = binary.LittleEndian.AppendUint64(file, e.n)
		file = append(file, e.hash[:]...)
		file = binary.LittleEndian.AppendUint32(file, uint32(len(e.scalars)))
		file = append(file, e.scalars...)
	}
	sum := sha256.Sum256(file)
	return append(file, sum[:]...)
}

func (c *Client) variatesHead() []byte {
	b := append([]byte(variatesMagic), byte(len(c.cfg.Run)), byte(len(c.cfg.ID)))
	return append(append(b, c.cfg.Run...), c.cfg.ID...)
}

// openVariates takes the control variates that an earlier process kept. Whether the
// log still has their records is asked when one is wanted.
func (c *Client) openVariates() error {
	var list []variate
	err := c.keeper.load(itemVariates, func(r *io.SectionReader) error {
		if r.Size() > int64(variatesFileMax) {
			return fmt.Errorf("%w: %d bytes", errVariatesFile, r.Size())
		}
		file := make([]byte, r.Size())
		if _, err := io.ReadFull(r, file); err != nil {
			return err
		}
		var err error
		list, err = c.parseVariates(file)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errVariatesFile):
		return c.discard(itemVariates, err)
	case err != nil:
		return c.stored(itemVariates, err)
	}
	c.variates = variates{list: list}
	return nil
}

func (c *Client) parseVariates(file []byte) ([]variate, error) {
	head := c.variatesHead()
	if len(file) < len(head)+sha256.Size || !bytes.Equal(file[:len(head)], head) {
		return nil, fmt.Errorf("%w: it begins otherwise", errVariatesFile)
	}
	body, sum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("%w: the checksum is wrong", errVariatesFile)
	}
	var list []variate
	for b := body[len(head):]; len(b) > 0; {
		if len(b) < variateHead || len(list) == variatesKept {
			return nil, fmt.Errorf("%w: the lengths do not fit", errVariatesFile)
		}
		e := variate{n: binary.LittleEndian.Uint64(b)}
		copy(e.hash[:], b[8:])
		size := uint64(binary.LittleEndian.Uint32(b[variateHead-4:]))
		if b = b[variateHead:]; size > uint64(len(b)) || len(list) > 0 && list[len(list)-1].n <= e.n {
			return nil, fmt.Errorf("%w: record %d of %d bytes", errVariatesFile, e.n, size)
		}
		e.scalars, b = wire.Scalars(b[:size]), b[size:]
		list = append(list, e)
	}
	return list, nil
}
