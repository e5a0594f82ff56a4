package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// label is the beginning of every hash of this scheme.
const label = "zofl secagg 1\x00"

// Lengths in bytes.
const (
	keyLen    = 32 // a public or private key, a seed, and a share of one
	commitLen = 16 // a commitment that binds a device to its seed
	tagLen    = 16 // proof that keys, or lists, come from a device that has the secret
	keysLen   = 2*keyLen + commitLen + tagLen
	peerLen   = 2*keyLen + tagLen // keys, as a neighbor gets them
	boxLen    = 2*keyLen + 16     // a sealed share
)

// derive returns 32 bytes of HKDF-SHA256 for a purpose and slots.
func derive(secret, salt []byte, purpose string, slots ...uint32) []byte {
	info := append([]byte(label), purpose...)
	for _, slot := range slots {
		info = binary.LittleEndian.AppendUint32(info, slot)
	}
	key, err := hkdf.Key(sha256.New, secret, salt, string(info), keyLen)
	if err != nil {
		panic("secagg: internal error: " + err.Error())
	}
	return key
}

// A stream is the keystream of AES-256-CTR from a counter of zero.
type stream struct{ cipher.Stream }

func newStream(key []byte) *stream {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("secagg: internal error: " + err.Error())
	}
	return &stream{cipher.NewCTR(block, make([]byte, aes.BlockSize))}
}

// addMask adds the mask of a key to words, or subtracts the mask: words[i] += or -= the i-th
// little-endian word of the key's stream.
func addMask(words []uint32, key []byte, minus bool) {
	var zero, b [1 << 10]byte
	sign := uint32(1)
	if minus {
		sign = ^uint32(0)
	}
	for s := newStream(key); len(words) > 0; {
		n := min(len(words), len(b)/4)
		s.XORKeyStream(b[:4*n], zero[:4*n])
		for i := range words[:n] {
			words[i] += sign * binary.LittleEndian.Uint32(b[4*i:])
		}
		words = words[n:]
	}
}

func privateKey(b []byte) *ecdh.PrivateKey {
	key, err := ecdh.X25519().NewPrivateKey(b)
	if err != nil {
		panic("secagg: internal error: " + err.Error())
	}
	return key
}

// agree returns the secret that X25519 gives for a private key and another member's public key. The
// error says that the public key is of low order.
func agree(own *ecdh.PrivateKey, public []byte) ([]byte, error) {
	key, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, because(ErrMalformed, "a public key: %v", err)
	}
	shared, err := own.ECDH(key)
	if err != nil {
		return nil, because(ErrMalformed, "a public key: %v", err)
	}
	return shared, nil
}

// maskKey returns the key of the mask that the two members a and b share.
func (s *setting) maskKey(own *ecdh.PrivateKey, public []byte, a, b uint32) ([]byte, error) {
	shared, err := agree(own, public)
	if err != nil {
		return nil, err
	}
	return derive(shared, s.id[:], "pair", min(a, b), max(a, b)), nil
}

// seedKey returns the key of a device's own mask.
func (s *setting) seedKey(seed []byte, slot uint32) []byte {
	return derive(seed, s.id[:], "self", slot)
}

// commit returns a value that binds a device to its seed, and reveals nothing about the seed.
func (s *setting) commit(seed []byte, slot uint32) []byte {
	return derive(seed, s.id[:], "commit", slot)[:commitLen]
}

// tag returns a member's tag of bytes for a purpose: keyTag, sharedTag or sentTag.
func (s *setting) tag(secret []byte, purpose string, slot uint32, b []byte) []byte {
	mac := hmac.New(sha256.New, derive(secret, s.id[:], purpose, slot))
	mac.Write(b)
	return mac.Sum(nil)[:tagLen]
}

// Purposes of tags.
const (
	keyTag    = "tag"    // public keys
	sharedTag = "shared" // the list of the devices that sent shares
	sentTag   = "sent"   // that list, and the list of the devices that sent vectors
)

// box returns the cipher that seals one message from a member to another in this round.
func (s *setting) box(shared []byte, from, to uint32) cipher.AEAD {
	block, err := aes.NewCipher(derive(shared, s.id[:], "box", from, to))
	if err != nil {
		panic("secagg: internal error: " + err.Error())
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic("secagg: internal error: " + err.Error())
	}
	return box
}

// nonce is the same for every box, because no key seals two messages.
var nonce = make([]byte, 12)
