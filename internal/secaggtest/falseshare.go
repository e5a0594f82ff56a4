// Package secaggtest has what a device needs to lie in secure aggregation, for tests.
package secaggtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zofl/zofl/wire/secagg"
)

const (
	label   = "zofl secagg 1\x00"
	peerLen = 80 // the keys and the tag of a neighbor, as a device gets them
	boxLen  = 80
)

// FalseShare returns boxes, a device's answer to StepShares, with false shares in the box for the
// neighbor of slot to: the box opens, and the shares in it do not fit. random are the 32 bytes from
// which the device's keys derive, given is what the device got in the step. All members of the
// round must be neighbors. The bytes are those of docs/secagg.md.
func FalseShare(r secagg.Round, random []byte, slot, to uint32, given, boxes []byte) ([]byte,
	error) {
	at, public, err := find(r, slot, to, given)
	if err != nil {
		return nil, err
	}
	id := idOf(r)
	private, err := ecdh.X25519().NewPrivateKey(derive(random, id, "seal key", slot))
	if err != nil {
		return nil, err
	}
	key, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	secret, err := private.ECDH(key)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derive(secret, id, "box", slot, to))
	if err != nil {
		return nil, err
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	shares, err := box.Open(nil, nonce, boxes[at*boxLen:(at+1)*boxLen], nil)
	if err != nil {
		return nil, fmt.Errorf("the box of slot %d for %d: %w", slot, to, err)
	}
	shares[0], shares[len(shares)/2] = shares[0]^1, shares[len(shares)/2]^1
	boxes = slices.Clone(boxes)
	box.Seal(boxes[:at*boxLen], nonce, shares, nil)
	return boxes, nil
}

// find returns which of a device's boxes is for a neighbor, and the neighbor's seal key.
func find(r secagg.Round, slot, to uint32, given []byte) (at int, public []byte, err error) {
	keys := given[(len(r.Members)+7)/8:]
	for i, other := range r.Members {
		switch there := given[i/8]>>(i%8)&1 != 0; {
		case !there || other == slot:
			continue
		case other == to:
			return at, keys[peerLen*at : peerLen*at+32], nil
		}
		at++
	}
	return 0, nil, fmt.Errorf("slot %d sent no keys", to)
}

func derive(secret, salt []byte, purpose string, slots ...uint32) []byte {
	info := append([]byte(label), purpose...)
	for _, slot := range slots {
		info = binary.LittleEndian.AppendUint32(info, slot)
	}
	key, err := hkdf.Key(sha256.New, secret, salt, string(info), 32)
	if err != nil {
		panic(err)
	}
	return key
}

// idOf returns the hash of the round that all its keys depend on.
func idOf(r secagg.Round) []byte {
	threshold := r.Threshold
	if threshold == 0 {
		_, threshold = secagg.Graph(len(r.Members))
	}
	b := binary.LittleEndian.AppendUint32([]byte(label), uint32(len(r.Context)))
	b = append(b, r.Context...)
	for _, n := range []int{r.Words, threshold, len(r.Members)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for _, slot := range r.Members {
		b = binary.LittleEndian.AppendUint32(b, slot)
	}
	if r.Agree {
		b = append(b, 1)
	}
	id := sha256.Sum256(b)
	return id[:]
}
