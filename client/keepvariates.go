package client

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/shelf"
	"github.com/zofl/zofl/wire"
)

// errVariatesFile: the stored control variates are none that this device wrote.
var errVariatesFile = errors.New("no control variates of this device")

// A variates file holds for each variate, newest first, LE64 the record, its hash, LE32
// the length of the scalars in bytes and these.
const (
	variatesMagic   = "zofl variates 1\n"
	variateHead     = 8 + len(wire.Hash{}) + 4
	variatesFileMax = len(variatesMagic) + shelf.Overhead + variatesKept*(variateHead+4*wire.MaxScalars)
)

// keepVariates makes this device's control variates durable, where they changed. It
// comes before the next reply takes the place of the last, so that there is always
// either the variate or the reply that it was made of.
func (c *Client) keepVariates() error {
	v := &c.variates
	if !c.shelf.Keeps() || !v.unkept || c.replica.Plan().Control != wire.ScaffoldMean {
		return nil
	}
	err := c.shelf.SaveFile(itemVariates, variatesMagic, appendVariates(nil, v.list))
	v.unkept = err != nil
	return c.shelf.Check(itemVariates, err)
}

func appendVariates(file []byte, list []variate) []byte {
	for i := range list {
		e := &list[i]
		file = binary.LittleEndian.AppendUint64(file, e.n)
		file = append(file, e.hash[:]...)
		file = binary.LittleEndian.AppendUint32(file, uint32(len(e.scalars)))
		file = append(file, e.scalars...)
	}
	return file
}

// openVariates takes the control variates that an earlier process kept. Whether the
// log still has their records is asked when one is wanted.
func (c *Client) openVariates() error {
	return c.shelf.LoadFile(itemVariates, variatesMagic, variatesFileMax, errVariatesFile, func(held []byte) error {
		list, err := parseVariates(held)
		if err == nil {
			c.variates = variates{list: list}
		}
		return err
	})
}

func parseVariates(held []byte) ([]variate, error) {
	var list []variate
	for b := held; len(b) > 0; {
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
