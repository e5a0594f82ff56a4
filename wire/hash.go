package wire

import (
	"crypto/sha256"
	"encoding/hex"
)

// A Hash is the first 16 bytes of a SHA-256 hash. Each record holds the Hash of the record before
// it.
type Hash [16]byte

// A Tip is the first 8 bytes of the [Hash] of a record. A reply carries the tip of the record after
// which it was computed.
type Tip [8]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }
func (t Tip) String() string  { return hex.EncodeToString(t[:]) }

// Tip returns the prefix of h that replies carry.
func (h Hash) Tip() Tip { return Tip(h[:8]) }

// Genesis returns the hash that record 1 holds in place of a predecessor's: SHA-256("zofl/1
// run\x00" + run). So a record of another run does not continue this run's chain of hashes.
func Genesis(run string) Hash {
	return hash([]byte("zofl/1 run\x00" + run))
}

// ObjectLen is the length of [HashObject] in bytes.
const ObjectLen = 32

// HashObject returns the digest of a vector that travels beside the log: the SHA-256 of "zofl/1
// object\x00" and the vector's elements, float32 little-endian. The digest is also the vector's
// name.
func HashObject(data []byte) [ObjectLen]byte {
	h := sha256.New()
	h.Write([]byte("zofl/1 object\x00"))
	h.Write(data)
	return [ObjectLen]byte(h.Sum(nil))
}

// HashRecord returns the hash of an encoded record. A record contains the hash of the record before
// it. So the hash of a record identifies the whole log up to that record.
func HashRecord(record []byte) Hash { return hash(record) }

func hash(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash(sum[:16])
}
