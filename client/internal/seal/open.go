package seal

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"
)

// An Opener takes a sealed file in pieces, through Write, and writes its content to another writer.
// An Opener writes the content of a chunk only after it authenticated the whole chunk, and writes
// nothing after an error.
type Opener struct {
	w      io.Writer
	runKey []byte
	run    string // run to which files of format 2 must be bound; "": accept no format 2
	index  uint64 // index in format 2; 0: accept any index, and format 1
	bound  []byte // nil in format 1
	left   uint64 // bytes of the file still to come
	cipher cipher.AEAD
	number uint64
	nonce  [12]byte
	part   []byte // received bytes of the head or the next chunk
	plain  []byte
	err    error
}

// NewOpener returns an Opener of a sealed file of size bytes. The error is [ErrFile].
func NewOpener(w io.Writer, runKey []byte, size uint64) (*Opener, error) {
	if _, ok := PlainSize(size); !ok {
		return nil, fmt.Errorf("%w: %d bytes", ErrFile, size)
	}
	return &Opener{
		w: w, runKey: runKey, left: size,
		part: make([]byte, 0, sealedFull), plain: make([]byte, 0, chunkLen),
	}, nil
}

// Bind makes the Opener accept only files of format 2 that are bound to the run and the index. With
// index 0 it accepts chunks of any index, and also files of format 1.
func (u *Opener) Bind(run string, index uint64) { u.run, u.index = run, index }

// Write implements io.Writer.
func (u *Opener) Write(p []byte) (written int, err error) {
	for written < len(p) && u.err == nil {
		n := copy(u.part[len(u.part):u.next()], p[written:])
		if n == 0 {
			u.err = fmt.Errorf("%w: bytes after the end", ErrFile)
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

// next returns the length of the next part. A part is the head or a chunk.
func (u *Opener) next() int {
	if u.cipher == nil {
		return headLen
	}
	return int(min(u.left, sealedFull))
}

// open decrypts a complete part, and writes its content to u.w.
func (u *Opener) open() error {
	if u.cipher == nil {
		return u.openHead(string(u.part[:len(magic)]), u.part[len(magic):])
	}
	nonce := chunkNonce(&u.nonce, u.number, u.left == 0)
	plain, err := u.cipher.Open(u.plain[:0], nonce, u.part, u.bound)
	if err != nil {
		return fmt.Errorf("%w: chunk %d", ErrFile, u.number)
	}
	u.number++
	_, err = u.w.Write(plain)
	return err
}

// openHead reads the head of a file.
func (u *Opener) openHead(begins string, salt []byte) error {
	switch index := binary.LittleEndian.Uint64(salt); {
	case begins == magic && (u.run == "" || u.index == 0):
		u.cipher = chunkCipher(u.runKey, salt)
	case begins != magic2 || u.run == "":
		return fmt.Errorf("%w: it begins with %q", ErrFile, begins)
	case u.index != 0 && u.index != index:
		return fmt.Errorf("%w: it is bound to record %d, not %d", ErrFile, index, u.index)
	default:
		u.cipher, u.bound = boundCipher(u.runKey, salt, u.run)
	}
	return nil
}

// A Reader reads the content of a sealed file.
type Reader struct {
	sealed io.Reader
	to     *Opener
	plain  bytes.Buffer
	err    error
}

// NewReader returns a Reader of a sealed file of size bytes. Read returns [ErrFile] if the file is
// damaged or sealed under another key.
func NewReader(sealed io.Reader, runKey []byte, size uint64) *Reader {
	r := &Reader{sealed: sealed}
	r.to, r.err = NewOpener(&r.plain, runKey, size)
	return r
}

// Bind works as in an [Opener].
func (r *Reader) Bind(run string, index uint64) {
	if r.to != nil {
		r.to.Bind(run, index)
	}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for r.plain.Len() == 0 && r.err == nil {
		_, r.err = io.CopyN(r.to, r.sealed, sealedFull)
	}
	if r.plain.Len() > 0 {
		return r.plain.Read(p)
	}
	return 0, r.err
}
