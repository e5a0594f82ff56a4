package plan

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
)

// ErrRunKey: the run's directions derive from a secret of the app, and the given key is not that
// secret. Give every device the secret with which the plan was made.
var ErrRunKey = errors.New("wrong run key")

// KeyCheck returns Plan.KeyCheck for plans whose run key is the secret itself: HMAC-SHA256(key,
// "zofl/1 run key\x00"). For new plans, see [Plan.SetSecret]. Anybody who has the plan can use
// KeyCheck to test guesses of the key. So the key must be 32 random bytes, never a password.
func KeyCheck(runKey []byte) Bytes {
	h := hmac.New(sha256.New, runKey)
	h.Write([]byte("zofl/1 run key\x00"))
	return h.Sum(nil)
}

// Values of [Plan.KeyScheme].
const (
	// keyIsSecret: directions derive from the secret itself, and sealed files have format 1. Two runs
	// with one secret have the same directions. Plans of earlier versions use this scheme.
	keyIsSecret = iota
	// keyIsDerived: all keys are HKDF-SHA256(secret, info), of 32 bytes, without a salt. The info is
	// "zofl/2 ", the purpose, a zero byte and the run's name. The purpose of the run key is
	// "directions"; the purpose of KeyCheck is "key check". Sealed files have format 2. Two runs with
	// one secret have no key in common.
	keyIsDerived
)

// derive returns a run's key for a purpose, with keyIsDerived.
func derive(secret []byte, run, purpose string) Bytes {
	key, err := hkdf.Key(sha256.New, secret, nil, "zofl/2 "+purpose+"\x00"+run, 32)
	if err != nil {
		panic("wire: internal error: " + err.Error())
	}
	return key
}

// SetSecret makes p the plan of a private run whose keys derive from a secret: see
// [Plan.DerivesKeys]. Anybody who has the plan can test guesses of the secret. So the secret must
// be 32 random bytes, never a password.
func (p *Plan) SetSecret(secret []byte) {
	p.RunKey, p.KeyScheme, p.KeyCheck = nil, keyIsDerived, derive(secret, p.Run, "key check")
}

// DerivesKeys says whether each key of a private run is HKDF-SHA256 of the secret, a purpose and
// the run's name. If DerivesKeys, two runs with one secret have no key in common. Plans of earlier
// versions derive directions from the secret itself.
func (p *Plan) DerivesKeys() bool { return p.KeyScheme == keyIsDerived }

// Private says whether the run key is a secret of the app.
func (p *Plan) Private() bool { return len(p.KeyCheck) > 0 }

// Key returns the key from which directions derive: the plan's key, or in a private run the key of
// secret. The error is [ErrRunKey] if the plan was made with another secret.
func (p *Plan) Key(secret []byte) ([]byte, error) {
	switch {
	case !p.Private():
		return p.RunKey, nil
	case len(secret) == 0:
		return nil, fmt.Errorf("%w: the run's key is a secret, and none was given", ErrRunKey)
	}
	key, check := secret, KeyCheck
	if p.DerivesKeys() {
		key = derive(secret, p.Run, "directions")
		check = func(secret []byte) Bytes { return derive(secret, p.Run, "key check") }
	}
	if !hmac.Equal(check(secret), p.KeyCheck) {
		return nil, ErrRunKey
	}
	return key, nil
}
