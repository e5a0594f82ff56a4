package replica

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/zofl/zofl/prng"
)

// A keyring makes the keys of a run's records.
type keyring struct {
	mac     hash.Hash // under the run key, nil: not made yet
	message [8]byte
	sum     [sha256.Size]byte
}

// of returns prng.RecordKey(runKey, n). The run key is that of the first call; a
// run has one. After that call it does not allocate.
func (k *keyring) of(runKey []byte, n uint64) prng.Key {
	if k.mac == nil {
		k.mac = hmac.New(sha256.New, runKey)
	}
	k.mac.Reset()
	binary.LittleEndian.PutUint64(k.message[:], n)
	k.mac.Write(k.message[:])
	return prng.Key(binary.LittleEndian.Uint64(k.mac.Sum(k.sum[:0])))
}
