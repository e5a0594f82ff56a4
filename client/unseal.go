package client

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"io"
)

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
