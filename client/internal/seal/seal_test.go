package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

var runKey = bytes.Repeat([]byte{5}, 32)

// sealed seals a plain file that the caller writes in pieces.
func sealed(t testing.TB, plain []byte, piece int) []byte {
	t.Helper()
	var b bytes.Buffer
	s, err := NewWriter(&b, runKey)
	if err != nil {
		t.Fatal(err)
	}
	for p := range slices.Chunk(plain, piece) {
		if n, err := s.Write(p); n != len(p) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unsealed opens a sealed file that it writes in pieces.
func unsealed(file, key []byte, size uint64, piece int) ([]byte, error) {
	var b bytes.Buffer
	u, err := NewOpener(&b, key, size)
	if err != nil {
		return nil, err
	}
	for p := range slices.Chunk(file, piece) {
		if _, err := u.Write(p); err != nil {
			return b.Bytes(), err
		}
	}
	if u.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

func content(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	r.Read(b)
	return b
}

// Opening a sealed file gives the plain file, in whatever pieces both are written. The file has the
// length that Size and PlainSize say. A Reader gives the same content.
func TestSeal(t *testing.T) {
	lengths := []int{
		1, 2, chunkLen - 1, chunkLen, chunkLen + 1, 2*chunkLen - 1, 2 * chunkLen, 3*chunkLen + 7,
	}
	for _, n := range lengths {
		plain := content(n)
		for _, piece := range []int{1 << 20, chunkLen, sealedFull, 1000, 7} {
			file := sealed(t, plain, piece)
			if got := Size(uint64(n)); got != uint64(len(file)) {
				t.Errorf("%d bytes: sealed %d, Size says %d", n, len(file), got)
			}
			if got, ok := PlainSize(uint64(len(file))); got != uint64(n) || !ok {
				t.Errorf("%d bytes: PlainSize says %d, %v", n, got, ok)
			}
			if got, err := unsealed(file, runKey, uint64(len(file)), piece); !bytes.Equal(got,
				plain) || err != nil {
				t.Errorf("%d bytes in pieces of %d: got %d, %v", n, piece, len(got), err)
			}
			r := NewReader(bytes.NewReader(file), runKey, uint64(len(file)))
			if got, err := io.ReadAll(r); !bytes.Equal(got, plain) || err != nil {
				t.Errorf("%d bytes read: got %d, %v", n, len(got), err)
			}
		}
	}
	a, b := sealed(t, content(5), 5), sealed(t, content(5), 5)
	if bytes.Equal(a[:headLen], b[:headLen]) || bytes.Equal(a[headLen:], b[headLen:]) {
		t.Error("two files have one salt")
	}
}

// PlainSize accepts exactly the lengths that sealed files have.
func TestSealedSizes(t *testing.T) {
	sizes := map[uint64]uint64{}
	for n := uint64(1); n < 3*chunkLen; n++ {
		sizes[Size(n)] = n
	}
	for size := range uint64(3 * chunkLen) {
		got, ok := PlainSize(size)
		if want, is := sizes[size]; ok != is || is && got != want {
			t.Fatalf("%d bytes: %d, %v, want %d, %v", size, got, ok, want, is)
		}
	}
}

// An Opener detects a changed bit, another key, and chunks that were cut off, moved, repeated or
// taken from another file. The Opener writes nothing of the faulty chunk.
func TestSealedDamage(t *testing.T) {
	plain := content(3*chunkLen + 100)
	file, other := sealed(t, plain, 1<<20), sealed(t, plain, 1<<20)
	chunk := func(file []byte, i int) []byte {
		return file[headLen+i*sealedFull : min(len(file), headLen+(i+1)*sealedFull)]
	}
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	head := file[:headLen]
	tests := map[string][]byte{
		"cut off behind a chunk": join(head, chunk(file, 0), chunk(file, 1)),
		"a chunk left out":       join(head, chunk(file, 0), chunk(file, 2), chunk(file, 3)),
		"chunks exchanged": join(head, chunk(file, 1), chunk(file, 0), chunk(file, 2),
			chunk(file, 3)),
		"a chunk repeated": join(head, chunk(file, 0), chunk(file, 0), chunk(file, 2),
			chunk(file, 3)),
		"a chunk of another": join(head, chunk(file, 0), chunk(other, 1), chunk(file, 2),
			chunk(file, 3)),
		"the last first": join(head, chunk(file, 3)),
	}
	for name, b := range tests {
		got, err := unsealed(b, runKey, uint64(len(b)), 1000)
		if !errors.Is(err, ErrFile) || !bytes.Equal(got, plain[:len(got)]) ||
			len(got)%chunkLen != 0 {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for at := 0; at < len(file); at += 1 + at/40 {
		b := slices.Clone(file)
		b[at] ^= 1
		got, err := unsealed(b, runKey, uint64(len(b)), 5000)
		if !errors.Is(err, ErrFile) || !bytes.Equal(got, plain[:len(got)]) {
			t.Errorf("byte %d: %d bytes, %v", at, len(got), err)
		}
	}
	if _, err := unsealed(file, bytes.Repeat([]byte{6}, 32), uint64(len(file)),
		1000); !errors.Is(err, ErrFile) {
		t.Errorf("another key: %v", err)
	}
	if _, err := unsealed(append(slices.Clone(file), 0), runKey, uint64(len(file)),
		1<<20); !errors.Is(err, ErrFile) {
		t.Errorf("a byte more: %v", err)
	}
	if _, err := NewOpener(io.Discard, runKey, 12); !errors.Is(err, ErrFile) {
		t.Errorf("12 bytes: %v", err)
	}
}

// TestSealedAsWritten opens a file as docs/sealed.md says, with none of this package's code.
func TestSealedAsWritten(t *testing.T) {
	plain := content(16384 + 3)
	file := sealed(t, plain, 999)
	if string(file[:14]) != "zofl sealed 1\n" {
		t.Fatalf("begins with %q", file[:14])
	}
	mac := hmac.New(sha256.New, runKey)
	mac.Write(append([]byte("zofl/1 snapshot\x00"), file[14:30]...))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for i, chunk := range [][]byte{file[30 : 30+16400], file[30+16400:]} {
		nonce := binary.LittleEndian.AppendUint64(nil, uint64(i))
		nonce = binary.LittleEndian.AppendUint32(nonce, uint32(i)) // the second is the last
		if got, err = gcm.Open(got, nonce, chunk, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, plain) {
		t.Error("other bytes came out")
	}
}

// Sealing and opening hold one or two chunks in memory, however long the file is.
func TestSealDoesNotAllocate(t *testing.T) {
	s, err := NewWriter(io.Discard, runKey)
	if err != nil {
		t.Fatal(err)
	}
	block := content(3 * chunkLen)
	if n := testing.AllocsPerRun(20, func() { s.Write(block) }); n != 0 {
		t.Errorf("%v allocations to seal", n)
	}
	file := sealed(t, content(100*chunkLen), 1<<20)
	u, err := NewOpener(io.Discard, runKey, uint64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(20, func() {
		var p []byte
		if p, file = file[:30000], file[30000:]; p != nil {
			_, err = u.Write(p)
		}
	}); n > 0.5 || err != nil {
		t.Errorf("%v allocations to open, %v", n, err)
	}
}

// BenchmarkSeal measures the time that sealing adds to writing.
func BenchmarkSeal(b *testing.B) {
	block := content(chunkLen)
	s, err := NewWriter(io.Discard, runKey)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(chunkLen)
	b.ReportAllocs()
	for b.Loop() {
		s.Write(block)
	}
}

// bound seals a plain file in format 2.
func bound(t testing.TB, plain []byte, run string, index uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	s, err := NewBound(&b, runKey, run, index)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// opened opens a file that must be bound to a run and an index.
func opened(file []byte, run string, index uint64) ([]byte, error) {
	r := NewReader(bytes.NewReader(file), runKey, uint64(len(file)))
	r.Bind(run, index)
	return io.ReadAll(r)
}

// A file of format 2 opens only for its run and its record, and not as a file of format 1. A file
// of format 1 does not open as a bound file.
func TestBound(t *testing.T) {
	plain := content(chunkLen + 3)
	file, old := bound(t, plain, "kitchen", 64), sealed(t, plain, 999)
	moved := slices.Clone(file)
	moved[len(magic2)] = 65 // the index that the file claims
	for _, tt := range []struct {
		name  string
		file  []byte
		run   string
		index uint64
		opens bool
	}{
		{"as it is", file, "kitchen", 64, true},
		{"any record", file, "kitchen", 0, true},
		{"another record", file, "kitchen", 65, false},
		{"another record claimed", moved, "kitchen", 65, false},
		{"another run", file, "pantry", 64, false},
		{"no run", file, "", 0, false},
		{"format 1", old, "kitchen", 64, false},
		{"format 1, any will do", old, "kitchen", 0, true},
	} {
		got, err := opened(tt.file, tt.run, tt.index)
		if tt.opens && (err != nil || !bytes.Equal(got, plain)) || !tt.opens &&
			!errors.Is(err, ErrFile) {
			t.Errorf("%s: %d bytes, %v", tt.name, len(got), err)
		}
	}
}

// TestBoundAsWritten opens a file of format 2 as docs/sealed.md says, with HKDF by hand.
func TestBoundAsWritten(t *testing.T) {
	plain := content(50)
	file := bound(t, plain, "kitchen", 300)
	if string(file[:14]) != "zofl sealed 2\n" ||
		binary.LittleEndian.Uint64(file[14:]) != 300 {
		t.Fatalf("begins with %q", file[:22])
	}
	mac := func(key []byte, text ...[]byte) []byte {
		h := hmac.New(sha256.New, key)
		h.Write(slices.Concat(text...))
		return h.Sum(nil)
	}
	key := mac(mac(file[14:30], runKey), []byte("zofl/2 snapshot\x00kitchen\x01"))
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := []byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}
	got, err := gcm.Open(nil, nonce, file[30:], append(file[14:22:22], "kitchen"...))
	if err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
