package client

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
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

// An unsealer writes to w the content of a sealed file that is written to it in
// pieces. Nothing of a chunk comes out before all of it was found right; after an
// error nothing more does.
type unsealer struct {
	w      io.Writer
	runKey []byte
	left   uint64 // bytes of the file to come
	cipher cipher.AEAD
	number uint64
	nonce  [12]byte
	part   []byte // what came of the head or the next chunk
	plain  []byte
	err    error
}

// newUnsealer returns one for a sealed file of size bytes; the error is errSealed.
func newUnsealer(w io.Writer, runKey []byte, size uint64) (*unsealer, error) {
	if _, ok := plainSize(size); !ok {
		return nil, fmt.Errorf("%w: %d bytes", errSealed, size)
	}
	return &unsealer{w: w, runKey: runKey, left: size, part: make([]byte, 0, sealedFull), plain: make([]byte, 0, chunkLen)}, nil
}

// Write implements io.Writer.
func (u *unsealer) Write(p []byte) (written int, err error) {
	for written < len(p) && u.err == nil {
		n := copy(u.part[len(u.part):u.next()], p[written:])
		if n == 0 {
			u.err = fmt.Errorf("%w: bytes after the end", errSealed)
			break
		}
		u.part = u.part[:len(u.part)+n]
		written += n
		if len(u.part) == u.next() {
			u.left -= uint64(len(u.part))
			u.err = u.open()
			u.part = u.part[:0]
		}
	}
	return written, u.err
}

// next is how long the head or chunk is that comes next.
func (u *unsealer) next() int {
	if u.cipher == nil {
		return sealHead
	}
	return int(min(u.left, sealedFull))
}

// open hands on the part that is whole.
func (u *unsealer) open() error {
	if u.cipher == nil {
		if string(u.part[:len(sealMagic)]) != sealMagic {
			return fmt.Errorf("%w: it begins with %q, not %q", errSealed, u.part[:len(sealMagic)], sealMagic)
		}
		u.cipher = chunkCipher(u.runKey, u.part[len(sealMagic):])
		return nil
	}
	plain, err := u.cipher.Open(u.plain[:0], chunkNonce(&u.nonce, u.number, u.left == 0), u.part, nil)
	if err != nil {
		return fmt.Errorf("%w: chunk %d", errSealed, u.number)
	}
	u.number++
	_, err = u.w.Write(plain)
	return err
}

// An unsealReader reads the content of a sealed file.
type unsealReader struct {
	sealed io.Reader
	to     *unsealer
	plain  bytes.Buffer
	err    error
}

func newUnsealReader(sealed io.Reader, runKey []byte, size uint64) *unsealReader {
	r := &unsealReader{sealed: sealed}
	r.to, r.err = newUnsealer(&r.plain, runKey, size)
	return r
}

// Read implements io.Reader.
func (r *unsealReader) Read(p []byte) (int, error) {
	for r.plain.Len() == 0 && r.err == nil {
		_, r.err = io.CopyN(r.to, r.sealed, sealedFull)
	}
	if r.plain.Len() > 0 {
		return r.plain.Read(p)
	}
	return 0, r.err
}
