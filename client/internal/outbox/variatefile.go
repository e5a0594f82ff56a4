package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// errVariatesFile says that the stored control variates are not ones that this device wrote.
var errVariatesFile = errors.New("not control variates of this device")

// A variates file holds the control variates, newest first. Each control variate consists of LE64
// the record, the record's hash, LE32 the length of the scalars in bytes, and the scalars.
const (
	variatesMagic   = "zofl variates 1\n"
	variateHead     = 8 + len(wire.Hash{}) + 4
	variatesFileMax = len(variatesMagic) + files.Overhead +
		variatesMost*(variateHead+4*plan.MaxScalars)
)

// saveVariates stores this device's control variates if they changed. Promise calls saveVariates
// before the next reply replaces the last one. So the store always has either the variate or the
// reply from which the variate came.
func (o *Outbox) saveVariates() error {
	v, s := &o.variates, o.cfg.Files
	if !v.unsaved || o.cfg.Log.Plan().Control != plan.ScaffoldMean {
		return nil
	}
	err := s.SaveFile(itemVariates, variatesMagic, appendVariates(nil, v.list))
	v.unsaved = err != nil
	return s.Check(itemVariates, err)
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

// loadVariates loads the control variates that an earlier process stored. Control asks whether
// the log still has their records.
func (o *Outbox) loadVariates() error {
	take := func(content []byte) error {
		list, err := parseVariates(content)
		if err == nil {
			o.variates = variates{list: list}
		}
		return err
	}
	return o.cfg.Files.LoadFile(
		itemVariates, variatesMagic, variatesFileMax, errVariatesFile, take)
}

func parseVariates(content []byte) ([]variate, error) {
	var list []variate
	for b := content; len(b) > 0; {
		if len(b) < variateHead || len(list) == variatesMost {
			return nil, fmt.Errorf("%w: lengths do not match", errVariatesFile)
		}
		e := variate{n: binary.LittleEndian.Uint64(b)}
		copy(e.hash[:], b[8:])
		size := uint64(binary.LittleEndian.Uint32(b[variateHead-4:]))
		if b = b[variateHead:]; size > uint64(len(b)) ||
			len(list) > 0 && list[len(list)-1].n <= e.n {
			return nil, fmt.Errorf("%w: record %d of %d bytes", errVariatesFile, e.n, size)
		}
		e.scalars, b = wire.Scalars(b[:size]), b[size:]
		list = append(list, e)
	}
	return list, nil
}
