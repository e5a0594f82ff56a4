package outbox

import (
	"encoding/binary"
	"errors"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/wire/secagg"
)

// itemUnmasked is the store's item for the last record that this device helped to unmask, with
// secure aggregation.
const itemUnmasked = "unmasked"

// errUnmaskedFile says that the stored record is not one that this device wrote.
var errUnmaskedFile = errors.New("not a record that this device unmasked")

// The content of the item is the record's index as LE64.
const (
	unmaskedMagic   = "zofl unmasked 1\n"
	unmaskedFileMax = len(unmaskedMagic) + files.Overhead + 8
)

// unmasking is what a device remembers about secure aggregation.
type unmasking struct {
	n       uint64 // the highest record that the device helped to unmask
	attempt [secagg.NonceLen]byte
	begun   bool // the device has taken part in attempt, or declined it
}

// BeginAttempt says whether the attempt with this nonce is new to the device. A second call with
// the same nonce returns false.
func (o *Outbox) BeginAttempt(nonce [secagg.NonceLen]byte) bool {
	u := &o.unmasking
	if u.begun && u.attempt == nonce {
		return false
	}
	u.begun, u.attempt = true, nonce
	return true
}

// Unmasked says whether this device helped to unmask record n, or a later one.
func (o *Outbox) Unmasked(n uint64) bool { return n <= o.unmasking.n }

// Unmask notes, in the store if there is one, that this device is about to help unmask record n. An
// error is the Recorder's.
func (o *Outbox) Unmask(n uint64) error {
	if o.unmasking.n = max(o.unmasking.n, n); o.cfg.Files == nil {
		return nil
	}
	content := binary.LittleEndian.AppendUint64(nil, o.unmasking.n)
	return o.cfg.Files.Check(itemUnmasked,
		o.cfg.Files.SaveFile(itemUnmasked, unmaskedMagic, content))
}

// loadUnmasked loads the record that an earlier process stored.
func (o *Outbox) loadUnmasked() error {
	take := func(content []byte) error {
		if len(content) != 8 {
			return errUnmaskedFile
		}
		o.unmasking.n = max(o.unmasking.n, binary.LittleEndian.Uint64(content))
		return nil
	}
	return o.cfg.Files.LoadFile(itemUnmasked, unmaskedMagic, unmaskedFileMax, errUnmaskedFile, take)
}
