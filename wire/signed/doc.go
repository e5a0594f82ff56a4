// Package signed makes and checks the coordinator's signatures. A device that knows the
// coordinator's public key recognizes the coordinator's frames by them.
//
// A signature is the last element of a frame's tail: a byte string of the first byte of the public
// key and the 64 bytes of Ed25519. Readers that know no signatures skip it, as they skip any tail
// of a later version. The signature is over
//
//	"zofl/1 signed" 00 | subject | 00 | SHA-256(request) | SHA-256(frame without the 64 bytes)
//
// For an announcement, subject is zo.<run>.a, whatever the shard, and request is empty. The frame
// holds the record's index, the epoch, the newest record with the hash of the one before, and the
// reference. So one signature covers the chain up to that record.
//
// For an answer, subject is the subject of its request. A device that wants a signed answer ends
// its request with a nonce, see [Ask]: no answer to another request fits. One signature covers all
// records of an answer.
package signed
