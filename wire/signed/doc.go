// Package signed makes and checks the coordinator's signatures. A device that knows the
// coordinator's public key recognizes the coordinator's frames by their signatures.
//
// A signature is the last element of a frame's tail: a byte string of the first byte of the public
// key and the 64 bytes of Ed25519. A reader that does not know signatures skips this element, like
// any unknown element of a tail. The signature is over
//
//	"zofl/1 signed" 00 | subject | 00 | SHA-256(request) | SHA-256(frame without the 64 bytes)
//
// For an announcement, subject is zo.<run>.a, whatever the shard, and request is empty. The frame
// holds the record's index, the epoch, the newest record with the hash of the one before, and the
// reference, if any. So one signature covers the chain up to that record.
//
// For an answer, subject is the subject of its request. A device that wants a signed answer ends
// its request with a nonce, see [Ask]: the answer to another request does not pass the check. One
// signature covers all records of an answer.
package signed
