package client

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// A sealed file is sealMagic, a random salt and chunks of a plain file, each
// encrypted and authenticated under a key of its own file. SEALED.md has every
// byte.
const (
	sealMagic  = "zofl sealed 1\n"
	saltLen    = 16
	sealHead   = len(sealMagic) + saltLen
	chunkLen   = 16 << 10 // plain bytes of a chunk but the last, which has 1 to so many
	chunkTag   = 16       // bytes that sealing adds to a chunk
	sealedFull = chunkLen + chunkTag
)

// errSealed: a sealed file was damaged, or is of another run key.
var errSealed = errors.New("bad sealed file: damaged, or of another run key")

// sealedSize returns the length of a plain file once it is sealed.
func sealedSize(plain uint64) uint64 {
	return uint64(sealHead) + plain + chunkTag*((plain+chunkLen-1)/chunkLen)
}

// plainSize returns the length of a sealed file's content; false: no sealed file has
// that length.
func plainSize(sealed uint64) (plain uint64, ok bool) {
	if sealed < uint64(sealHead) {
		return 0, false
	}
	body := sealed - uint64(sealHead)
	plain = body - min(body, chunkTag*((body+sealedFull-1)/sealedFull))
	return plain, plain > 0 && sealedSize(plain) == sealed
}

// chunkCipher returns that of the file with a salt.
func chunkCipher(runKey, salt []byte) cipher.AEAD {
	h := hmac.New(sha256.New, runKey)
	h.Write([]byte("zofl/1 snapshot\x00"))
	h.Write(salt)
	block, err := aes.NewCipher(h.Sum(nil))
	if err != nil {
		panic("client: internal error: " + err.Error())
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic("client: internal error: " + err.Error())
	}
	return gcm
}

// chunkNonce is LE64 of the chunk's number, then LE32 1 for the last chunk and 0 for
// others: no two chunks of a file have the same, and none can be moved or cut off.
func chunkNonce(nonce *[12]byte, number uint64, last bool) []byte {
	binary.LittleEndian.PutUint64(nonce[:], number)
	if nonce[8] = 0; last {
		nonce[8] = 1
	}
	return nonce[:]
}

// A sealer seals what is written to it; Close seals the last chunk.
type sealer struct {
	w      io.Writer
	cipher cipher.AEAD
	number uint64
	nonce  [12]byte
	plain  []byte // of the next chunk
	sealed []byte
}

// newSealer writes the head of a sealed file to w.
func newSealer(w io.Writer, runKey []byte) (*sealer, error) {
	var head [sealHead]byte
	salt := head[copy(head[:], sealMagic):]
	rand.Read(salt) // never fails
	if _, err := w.Write(head[:]); err != nil {
		return nil, err
	}
	return &sealer{
		w: w, cipher: chunkCipher(runKey, salt),
		plain: make([]byte, 0, chunkLen), sealed: make([]byte, 0, sealedFull),
	}, nil
}

// Write implements io.Writer.
func (s *sealer) Write(p []byte) (written int, err error) {
	for written < len(p) {
		// A full chunk waits for more: it may be the last.
		if len(s.plain) == chunkLen {
			if err := s.seal(false); err != nil {
				return written, err
			}
		}
		n := copy(s.plain[len(s.plain):chunkLen], p[written:])
		s.plain = s.plain[:len(s.plain)+n]
		written += n
	}
	return written, nil
}

// Close seals what waits as the last chunk; w stays open.
func (s *sealer) Close() error { return s.seal(true) }

func (s *sealer) seal(last bool) error {
	_, err := s.w.Write(s.cipher.Seal(s.sealed[:0], chunkNonce(&s.nonce, s.number, last), s.plain, nil))
	s.number, s.plain = s.number+1, s.plain[:0]
	return err
}
