// Package seal encrypts and authenticates a file chunk by chunk. A party that stores or relays the
// file learns only its length. The device notices if such a party changes the file. Passive
// replicas seal the snapshots of a private run under the run key; docs/sealed.md specifies every
// byte of the format. The package does not know what the file contains.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// A sealed file is magic, a random salt, and chunks of the plain file. Package seal encrypts and
// authenticates each chunk under a key derived for this file.
const (
	magic      = "zofl sealed 1\n"
	magic2     = "zofl sealed 2\n" // bound to a run and an index
	saltLen    = 16
	indexLen   = 8 // of a salt in format 2
	headLen    = len(magic) + saltLen
	chunkLen   = 16 << 10 // plain bytes of a chunk; the last has 1 to chunkLen
	chunkTag   = 16       // bytes that sealing adds to a chunk
	sealedFull = chunkLen + chunkTag
)

// ErrFile says that a sealed file is damaged, or sealed under another run key.
var ErrFile = errors.New("bad sealed file: damaged, or sealed under another run key")

// Size returns the length of the sealed form of a plain file of that length.
func Size(plain uint64) uint64 {
	return uint64(headLen) + plain + chunkTag*((plain+chunkLen-1)/chunkLen)
}

// PlainSize returns the length of a sealed file's content. ok is false if no sealed file has the
// given length.
func PlainSize(sealed uint64) (plain uint64, ok bool) {
	if sealed < uint64(headLen) {
		return 0, false
	}
	body := sealed - uint64(headLen)
	plain = body - min(body, chunkTag*((body+sealedFull-1)/sealedFull))
	return plain, plain > 0 && Size(plain) == sealed
}

// chunkCipher returns the cipher of the file with a given salt, in format 1.
func chunkCipher(runKey, salt []byte) cipher.AEAD {
	h := hmac.New(sha256.New, runKey)
	h.Write([]byte("zofl/1 snapshot\x00"))
	h.Write(salt)
	return gcm(h.Sum(nil))
}

// boundCipher returns the cipher of a file of a run, in format 2, and the additional data that
// binds its chunks to the run and the index. The salt begins with the index.
func boundCipher(secret, salt []byte, run string) (cipher.AEAD, []byte) {
	key, err := hkdf.Key(sha256.New, secret, salt, "zofl/2 snapshot\x00"+run, sha256.Size)
	if err != nil {
		panic("seal: internal error: " + err.Error())
	}
	return gcm(key), append(append([]byte(nil), salt[:indexLen]...), run...)
}

func gcm(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("seal: internal error: " + err.Error())
	}
	c, err := cipher.NewGCM(block)
	if err != nil {
		panic("seal: internal error: " + err.Error())
	}
	return c
}

// chunkNonce is LE64 of the chunk's number, then LE32 1 for the last chunk and 0 for other chunks.
// So the chunks of a file have different nonces, and nobody can move a chunk or cut off the end of
// the file unnoticed.
func chunkNonce(nonce *[12]byte, number uint64, last bool) []byte {
	binary.LittleEndian.PutUint64(nonce[:], number)
	if nonce[8] = 0; last {
		nonce[8] = 1
	}
	return nonce[:]
}

// A Writer seals the bytes written to it. Close seals the last chunk.
type Writer struct {
	w      io.Writer
	cipher cipher.AEAD
	bound  []byte // nil in format 1
	number uint64
	nonce  [12]byte
	plain  []byte // plain bytes of the next chunk
	sealed []byte
}

// NewWriter returns a Writer after it wrote the head of a sealed file to w, in format 1.
func NewWriter(w io.Writer, runKey []byte) (*Writer, error) {
	return newWriter(w, magic, func(salt []byte) (cipher.AEAD, []byte) {
		return chunkCipher(runKey, salt), nil
	})
}

// NewBound is like NewWriter, for format 2: the file is bound to a run, and to the index of the
// record whose state it holds.
func NewBound(w io.Writer, secret []byte, run string, index uint64) (*Writer, error) {
	return newWriter(w, magic2, func(salt []byte) (cipher.AEAD, []byte) {
		binary.LittleEndian.PutUint64(salt, index)
		return boundCipher(secret, salt, run)
	})
}

func newWriter(
	w io.Writer, magic string, key func(salt []byte) (cipher.AEAD, []byte),
) (*Writer, error) {
	var head [headLen]byte
	salt := head[copy(head[:], magic):]
	rand.Read(salt) // never fails
	c, bound := key(salt)
	if _, err := w.Write(head[:]); err != nil {
		return nil, err
	}
	return &Writer{
		w: w, cipher: c, bound: bound,
		plain: make([]byte, 0, chunkLen), sealed: make([]byte, 0, sealedFull),
	}, nil
}

// Write implements io.Writer.
func (s *Writer) Write(p []byte) (written int, err error) {
	for written < len(p) {
		// Do not seal a full chunk before the next byte comes, because the chunk may be the last one.
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

// Close seals the remaining bytes as the last chunk. Close does not close the underlying writer.
func (s *Writer) Close() error { return s.seal(true) }

func (s *Writer) seal(last bool) error {
	nonce := chunkNonce(&s.nonce, s.number, last)
	_, err := s.w.Write(s.cipher.Seal(s.sealed[:0], nonce, s.plain, s.bound))
	s.number, s.plain = s.number+1, s.plain[:0]
	return err
}
