package signed

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// scheme begins the text of a key.
const scheme = "ed25519:"

// MaxKeys is how many keys a device may accept: the coordinator's present key, and the key that
// replaces it.
const MaxKeys = 2

// ErrKey: a text is no public key of a coordinator.
var ErrKey = errors.New("no public key: give ed25519: and 43 characters, as `zofl status` " +
	"prints it")

// A Key is a coordinator's public key.
type Key [ed25519.PublicKeySize]byte

// String returns "ed25519:" and the key in base64url without padding.
func (k Key) String() string { return scheme + base64.RawURLEncoding.EncodeToString(k[:]) }

// Keys are the public keys that a device accepts: none, one, or two while the coordinator changes
// its key.
type Keys []Key

// ParseKeys reads the texts of at most [MaxKeys] keys, separated by commas. An empty text gives no
// keys. The error matches [ErrKey].
func ParseKeys(text string) (Keys, error) {
	if text == "" {
		return nil, nil
	}
	var keys Keys
	for part := range strings.SplitSeq(text, ",") {
		encoded, ok := strings.CutPrefix(strings.TrimSpace(part), scheme)
		b, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
		if !ok || err != nil || len(b) != len(Key{}) {
			return nil, fmt.Errorf("%q is %w", part, ErrKey)
		}
		keys = append(keys, Key(b))
	}
	if len(keys) > MaxKeys {
		return nil, fmt.Errorf("%d keys: %w: give one, or two while the coordinator changes its key",
			len(keys), ErrKey)
	}
	return keys, nil
}

// String returns the texts of the keys, separated by commas.
func (k Keys) String() string {
	texts := make([]string, len(k))
	for i, key := range k {
		texts[i] = key.String()
	}
	return strings.Join(texts, ",")
}
