package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
)

// ErrRunKey: the run's directions derive from a secret of the app, and the given key is
// another one. Give every device the key that the plan was made with.
var ErrRunKey = errors.New("wrong run key")

// KeyCheck returns Plan.KeyCheck for a secret run key: HMAC-SHA256(key, "zofl/1 run
// key\x00"). Anybody who has the plan can test guesses of the key with it, so the key
// must be 32 random bytes, never a password.
func KeyCheck(runKey []byte) Bytes {
	h := hmac.New(sha256.New, runKey)
	h.Write([]byte("zofl/1 run key\x00"))
	return h.Sum(nil)
}

// Private reports whether the run key is a secret of the app.
func (p *Plan) Private() bool { return len(p.KeyCheck) > 0 }

// Key returns the key from which directions derive: the plan's, or in a private run
// secret, if the plan was made with it; otherwise the error is [ErrRunKey].
func (p *Plan) Key(secret []byte) ([]byte, error) {
	switch {
	case !p.Private():
		return p.RunKey, nil
	case len(secret) == 0:
		return nil, fmt.Errorf("%w: the run's key is a secret, and none was given", ErrRunKey)
	case !hmac.Equal(KeyCheck(secret), p.KeyCheck):
		return nil, ErrRunKey
	}
	return secret, nil
}
