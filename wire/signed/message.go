package signed

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"

	"github.com/zofl/zofl/wire"
)

// Len is how many bytes a signature adds to a frame.
const Len = len(mark) + 1 + ed25519.SignatureSize

// mark begins a signature: it is the msgpack head of a byte string of 65.
const mark = "\xc4\x41"

// NonceLen is the length of the nonce of a request.
const NonceLen = 12

// nonceMark begins the nonce of a request: it is the msgpack head of a byte string of 12.
const nonceMark = "\xc4\x0c"

// ErrUnsigned: the coordinator did not sign a frame, or somebody changed the frame afterwards.
var ErrUnsigned = errors.New("not signed by the coordinator")

// Ask returns a request that asks for a signed answer: the request, then the nonce, 12 bytes that
// the device never uses again.
func Ask(request []byte, nonce [NonceLen]byte) []byte {
	asking := make([]byte, 0, len(request)+len(nonceMark)+NonceLen)
	return append(append(append(asking, request...), nonceMark...), nonce[:]...)
}

// Asks says whether a request ends with a nonce from [Ask].
func Asks(request []byte) bool {
	at := len(request) - NonceLen - len(nonceMark)
	return at >= 0 && string(request[at:at+len(nonceMark)]) == nonceMark
}

// subjectOf returns the subject in the signatures of a run's announcements.
func subjectOf(run string) string { return "zo." + run + ".a" }

// A Request is the SHA-256 of a request. In the signed bytes it stands for the request.
type Request [sha256.Size]byte

// RequestOf returns the SHA-256 of a request.
func RequestOf(request []byte) Request { return sha256.Sum256(request) }

// message returns the bytes to sign: before and after are the frame's bytes around the signature.
func message(subject string, request Request, before, after []byte) []byte {
	b := make([]byte, 0, 160)
	b = append(append(append(b, "zofl/1 signed\x00"...), subject...), 0)
	h := sha256.New()
	h.Write(before)
	h.Write(after)
	return h.Sum(append(b, request[:]...))
}

// fits says whether a frame has room for a signature.
func fits(frame []byte) bool { return len(frame)+Len <= wire.MaxFrame }
