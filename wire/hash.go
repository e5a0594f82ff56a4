package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// A Hash is the first 16 bytes of a SHA-256: a link of the chain of records.
type Hash [16]byte

// A Tip is the first 8 bytes of the [Hash] of a log's last record; a reply
// names with it the state that it was made from.
type Tip [8]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }
func (t Tip) String() string  { return hex.EncodeToString(t[:]) }

// Tip returns the prefix of h that replies carry.
func (h Hash) Tip() Tip { return Tip(h[:8]) }

// Genesis is what record 1 of a run names as its predecessor:
// SHA-256("zofl/1 run\x00" + run), so that no record of another run fits.
func Genesis(run string) Hash {
	return hash([]byte("zofl/1 run\x00" + run))
}

// ObjectLen is the bytes of [HashObject].
const ObjectLen = 32

// HashObject returns the digest of a vector that travels beside records, which is
// its name as well: the SHA-256 of "zofl/1 object\x00" and its elements, float32
// little-endian.
func HashObject(data []byte) [ObjectLen]byte {
	h := sha256.New()
	h.Write([]byte("zofl/1 object\x00"))
	h.Write(data)
	return [ObjectLen]byte(h.Sum(nil))
}

// HashRecord returns the hash of an encoded record. The record holds the hash
// of the one before it, so this names the whole log up to here.
func HashRecord(record []byte) Hash { return hash(record) }

func hash(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash(sum[:16])
}
