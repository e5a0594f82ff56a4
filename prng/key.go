package prng

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Key selects one of 2^64 families of directions, usually that of one record.
type Key uint64

// A Keyring derives the keys of a run's records. Only one goroutine may use a Keyring at a time.
// The methods do not allocate.
type Keyring struct {
	mac     hash.Hash
	message [8]byte
	sum     [sha256.Size]byte
}

// NewKeyring returns the keyring of a run.
func NewKeyring(runKey []byte) *Keyring { return &Keyring{mac: hmac.New(sha256.New, runKey)} }

// Key returns the key of record n: the first 8 bytes, little-endian, of HMAC-SHA256(runKey, n as 8
// little-endian bytes). No record has n = 0; the key for 0 is that of the initial parameters.
func (k *Keyring) Key(n uint64) Key {
	k.mac.Reset()
	binary.LittleEndian.PutUint64(k.message[:], n)
	k.mac.Write(k.message[:])
	return Key(binary.LittleEndian.Uint64(k.mac.Sum(k.sum[:0])))
}

// RecordKey returns the key of one record, see [Keyring.Key].
func RecordKey(runKey []byte, n uint64) Key { return NewKeyring(runKey).Key(n) }
