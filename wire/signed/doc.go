// Package signed has the coordinator's signatures. A device that knows the coordinator's public key
// distinguishes its frames by them from those of others.
//
// A signature is the last element of a frame's tail: a byte string of the first byte of the public
// key and the 64 bytes of Ed25519. Readers that know no signatures pass over it, as over any tail
// of a later version. What is signed is
//
//	"zofl/1 signed" 00 | subject | 00 | SHA-256(request) | SHA-256(frame without the 64 bytes)
//
// An announcement's subject is zo.<run>.a, whatever the shard, and its request is empty. The frame
// has the record's index, the epoch, the newest record with the hash of the one before, and the
// reference. So one signature covers the chain up to there.
//
// An answer's subject is that of its request. A device that wants a signed answer ends its request
// with a nonce, see [Ask]: nobody else's answer, and no earlier one, fits. One signature covers all
// records of an answer.
package signed
