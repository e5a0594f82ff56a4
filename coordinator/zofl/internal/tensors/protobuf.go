package tensors

import (
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message is a part of a file that holds a message of protocol buffers. The elements of tensors
// stay in the file: only what load returns is in memory.
type message struct {
	*window
	at, end int64
}

// A field is one field of a message. The message in it is the field's value, without its length.
type field struct {
	number protowire.Number
	kind   protowire.Type
	message
}

// mostHead is the largest number of bytes of a tag and a varint.
const mostHead = 20

// fields calls f for each field of a message.
func (m message) fields(f func(field) error) error {
	for at := m.at; at < m.end; {
		head, err := m.bytes(at, min(mostHead, m.end-at))
		if err != nil {
			return err
		}
		number, kind, n := protowire.ConsumeTag(head)
		if n < 0 {
			return protowire.ParseError(n)
		}
		value := message{m.window, at + int64(n), m.end}
		if err := value.limit(number, kind, head[n:]); err != nil {
			return err
		}
		at = value.end
		if err := f(field{number, kind, value}); err != nil {
			return err
		}
	}
	return nil
}

// limit sets the begin and the end of a field's value, which begins at m. head has its first bytes.
func (m *message) limit(number protowire.Number, kind protowire.Type, head []byte) error {
	switch kind {
	case protowire.BytesType:
		length, n := protowire.ConsumeVarint(head)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if m.at += int64(n); length > uint64(m.end-m.at) {
			return io.ErrUnexpectedEOF
		}
		m.end = m.at + int64(length)
		return nil
	case protowire.StartGroupType: // ONNX has none
		all, err := m.load()
		if err != nil {
			return err
		}
		head = all
	}
	n := protowire.ConsumeFieldValue(number, kind, head)
	if n < 0 {
		return protowire.ParseError(n)
	}
	m.end = m.at + int64(n)
	return nil
}

// load reads the whole message.
func (m message) load() ([]byte, error) {
	b := make([]byte, m.end-m.at)
	_, err := io.ReadFull(io.NewSectionReader(m.src, m.at, m.end-m.at), b)
	return b, err
}

// text returns a field's value as a string.
func (f *field) text() (string, error) {
	b, err := f.load()
	return string(b), err
}

// integer returns the value of a field that holds an integer.
func (f *field) integer() (uint64, error) {
	b, err := f.load()
	v, _ := protowire.ConsumeVarint(b)
	return v, err
}

// A window reads a file block by block.
type window struct {
	src   io.ReaderAt
	block []byte // of the file, from begin on
	begin int64
}

// windowSize is the number of bytes that a window reads at a time.
const windowSize = 1 << 16

// bytes returns n bytes from a position on, at most windowSize. They are valid until the next call.
func (w *window) bytes(at, n int64) ([]byte, error) {
	if off := at - w.begin; off >= 0 && off+n <= int64(len(w.block)) {
		return w.block[off : off+n], nil
	}
	block := w.block[:cap(w.block)]
	if len(block) == 0 {
		block = make([]byte, windowSize)
	}
	read, err := w.src.ReadAt(block, at)
	w.block, w.begin = block[:read], at
	switch {
	case int64(read) >= n:
		return w.block[:n], nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}
