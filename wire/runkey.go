package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
)

// ErrRunKey: the run's directions derive from a secret of the app, and this is
// not it. Give every device the key that the plan was made with.
var ErrRunKey = errors.New("wrong run key")

// KeyCheck returns what the plan of a run with a secret run key has in its
// place: HMAC-SHA256(key, "zofl/1 run key\x00"). Whoever has it can test
// guesses, so the key is 32 random bytes, and never a password.
func KeyCheck(runKey []byte) Bytes {
	h := hmac.New(sha256.New, runKey)
	h.Write([]byte("zofl/1 run key\x00"))
	return h.Sum(nil)
}

// Private says whether the run key is a secret of the app.
func (p *Plan) Private() bool { return len(p.KeyCheck) > 0 }

// Key returns the key that directions derive from: the plan's, or secret if that
// is the one that the plan was made with; [ErrRunKey] if it is not.
func (p *Plan) Key(secret []byte) ([]byte, error) {
	switch {
	case !p.Private():
		return p.RunKey, nil
	case len(secret) == 0:
		return nil, fmt.Errorf("%w: the run's is a secret, and this party has none", ErrRunKey)
	case !hmac.Equal(KeyCheck(secret), p.KeyCheck):
		return nil, ErrRunKey
	}
	return secret, nil
}
