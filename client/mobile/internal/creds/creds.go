// Package creds reads the credentials that an app gives as text.
package creds

import (
	"crypto/ed25519"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// An nkey is a prefix, 32 bytes and their CRC-16, in base32. The prefix of a user's seed
// has two bytes, which encode as "SU".
const (
	seedPrefix = 18 << 3 // 'S'
	userPrefix = 20 << 3 // 'U'
	crcBytes   = 2
	seedBytes  = 2 + ed25519.SeedSize + crcBytes
)

var nkeyText = base32.StdEncoding.WithPadding(base32.NoPadding)

// Option returns the option for the text of a NATS credentials file or the seed of a user's nkey.
// Option extracts the parts itself, because NATS's reader sends a text that it does not recognize
// to the server as the user's token, and the text may be a secret. Errors never contain the text.
func Option(text string) (nats.Option, error) {
	token, seed := "", ""
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "eyJ") && strings.Count(line, ".") == 2:
			token = line
		case strings.HasPrefix(line, "S") && len(line) > 2 && nkeyText.EncodedLen(seedBytes) <= len(line):
			seed = line
		}
	}
	file := strings.Contains(text, "-----BEGIN")
	switch {
	case seed == "" && token == "" && !file:
		return nil, Refuse("the text is neither a credentials file nor a seed")
	case seed == "":
		return nil, Refuse("the text has no seed")
	case token == "" && file:
		return nil, Refuse("the text has no JWT")
	}
	public, sign, err := parseSeed(seed)
	if err != nil {
		return nil, err
	}
	if token == "" {
		return nats.Nkey(public, sign), nil
	}
	return nats.UserJWT(func() (string, error) { return token, nil }, sign), nil
}

// Refuse returns an error that says why Option refuses a text, and which text to give instead. The
// error never contains the refused text, because that text is a secret.
func Refuse(why string) error {
	return fmt.Errorf(
		"%s: give the text of a NATS credentials file (-----BEGIN NATS USER JWT-----), "+
			"or a user's nkey seed (SU...)", why)
}

// parseSeed returns the public key of the seed of a user's nkey, and a function that signs
// with the private key.
func parseSeed(text string) (public string, sign nats.SignatureHandler, err error) {
	raw, err := nkeyText.DecodeString(text)
	if err != nil {
		return "", nil, Refuse("the nkey seed is not base32")
	}
	const body = 2 + ed25519.SeedSize
	if len(raw) != seedBytes || binary.LittleEndian.Uint16(raw[body:]) != crc16(raw[:body]) {
		return "", nil, Refuse("the nkey seed is damaged: its checksum is wrong")
	}
	if raw[0]&0xf8 != seedPrefix || raw[0]&7<<5|raw[1]>>3 != userPrefix {
		return "", nil, Refuse("the nkey seed is not a user's")
	}
	key := ed25519.NewKeyFromSeed(raw[2:body])
	name := append([]byte{userPrefix}, key.Public().(ed25519.PublicKey)...)
	name = binary.LittleEndian.AppendUint16(name, crc16(name))
	return nkeyText.EncodeToString(name), func(nonce []byte) ([]byte, error) {
		return ed25519.Sign(key, nonce), nil
	}, nil
}

// crc16 computes the XMODEM CRC-16: polynomial 0x1021, initial value 0.
func crc16(b []byte) uint16 {
	crc := uint16(0)
	for _, v := range b {
		crc ^= uint16(v) << 8
		for range 8 {
			top := crc&0x8000 != 0
			if crc <<= 1; top {
				crc ^= 0x1021
			}
		}
	}
	return crc
}
