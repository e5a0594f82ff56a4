package signed

import (
	"crypto/ed25519"

	"github.com/zofl/zofl/wire/compact"
)

// Announcement reads an announcement of a run. The error is [ErrUnsigned] if none of the keys has
// signed the announcement. Other errors are those of [compact.Decode], which runs first because
// decoding costs less than checking a signature. The result aliases frame.
func (k Keys) Announcement(run string, frame []byte) (compact.Announcement, error) {
	a, err := compact.Decode(frame)
	if err != nil {
		return a, err
	}
	end := len(frame) - a.After()
	if len(a.Rest) < Len || !k.signed(subjectOf(run), nil, frame[:end], frame[end:]) {
		return compact.Announcement{}, ErrUnsigned
	}
	return a, nil
}

// Answer returns [ErrUnsigned] unless one of the keys has signed the answer to this very request on
// a subject.
func (k Keys) Answer(subject string, request, answer []byte) error {
	if !k.signed(subject, request, answer, nil) {
		return ErrUnsigned
	}
	return nil
}

// signed says whether before ends with a signature by one of the keys. First, signed compares the
// key's first byte. So signed checks at most one signature for each frame, unless two keys begin
// with the same byte.
func (k Keys) signed(subject string, request, before, after []byte) bool {
	if !k.MayHaveSigned(before) {
		return false
	}
	at := len(before) - ed25519.SignatureSize
	hint, signature := before[at-1], before[at:]
	for i := range k {
		if k[i][0] == hint {
			m := message(subject, RequestOf(request), before[:at], after)
			if ed25519.Verify(k[i][:], m, signature) {
				return true
			}
		}
	}
	return false
}

// MayHaveSigned says whether an answer, or the tail of an announcement, looks as if one of the keys
// had signed it. MayHaveSigned does not check the signature.
func (k Keys) MayHaveSigned(frame []byte) bool {
	at := len(frame) - Len
	if at < 0 || string(frame[at:at+len(mark)]) != mark {
		return false
	}
	for i := range k {
		if k[i][0] == frame[at+len(mark)] {
			return true
		}
	}
	return false
}
