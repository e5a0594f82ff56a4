package filelog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire"
)

// The file of records begins with logHead. Each record follows as a frame: three little-endian
// 32-bit words, and the bytes of the record:
//
//	length of the record, at least 1
//	CRC-32C of the record
//	CRC-32C of the 8 bytes before
//	record
const (
	logHead   = "zofl log 1\n"
	frameWord = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errTorn: the file ends within a frame, as after a crash during an append.
var errTorn = errors.New("torn")

func appendFrame(b, record []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(record)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(record, castagnoli))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
	return append(b, record...)
}

// frameHead returns the length and the checksum in the head of a frame; ok is false if the head is
// damaged.
func frameHead(b []byte) (length int, sum uint32, ok bool) {
	length = int(binary.LittleEndian.Uint32(b))
	if length == 0 || length > wire.MaxRecord {
		return 0, 0, false
	}
	ok = crc32.Checksum(b[:8], castagnoli) == binary.LittleEndian.Uint32(b[8:])
	return length, binary.LittleEndian.Uint32(b[4:]), ok
}

// A frameReader reads the frames between off and end.
type frameReader struct {
	file   io.ReaderAt
	off    int64
	end    int64
	buffer []byte // the file's bytes from off on
	space  []byte
}

func newFrameReader(file io.ReaderAt, off, end int64) *frameReader {
	space := make([]byte, min(2*wire.MaxFrame, end-off))
	return &frameReader{file: file, off: off, end: end, space: space}
}

// next returns the next record, which is valid until the next call of next. At the end, next
// returns nil. The error is errTorn if only an unfinished frame remains. The error matches
// ErrCorrupt if the frame is damaged.
func (r *frameReader) next() ([]byte, error) {
	if r.off == r.end {
		return nil, nil
	}
	head, err := r.peek(frameWord)
	if err != nil {
		return nil, err
	}
	if len(head) < frameWord {
		return nil, errTorn
	}
	length, sum, ok := frameHead(head)
	if !ok {
		return nil, r.damaged(int(min(r.end-r.off, frameWord+wire.MaxRecord+1)), frameWord)
	}
	frame, err := r.peek(frameWord + length)
	if err != nil {
		return nil, err
	}
	if len(frame) < frameWord+length {
		return nil, errTorn
	}
	if crc32.Checksum(frame[frameWord:], castagnoli) != sum {
		return nil, r.damaged(frameWord+length, frameWord+length)
	}
	r.off += int64(len(frame))
	r.buffer = r.buffer[len(frame):]
	return frame[frameWord:], nil
}

// damaged decides whether a damaged frame is an unfinished append (errTorn) or corrupt. The frame
// has at most n bytes, and the damage is in its first bad bytes. Suppose that no record follows the
// frame, and that the frame's part of a damaged sector holds only zeros. Then the disk never wrote
// that sector, and the append never returned: errTorn. Otherwise stored bytes have changed.
func (r *frameReader) damaged(n, bad int) error {
	corrupt := fmt.Errorf("%w: checksum differs", runlog.ErrCorrupt)
	if r.off+int64(n) != r.end {
		return corrupt
	}
	b, err := r.peek(n)
	if err != nil {
		return err
	}
	for at := 0; at < bad; {
		next := min(at+int(disk.Sector-(r.off+int64(at))%disk.Sector), n)
		if allZero(b[at:next]) && (bad > frameWord || behind(r.file, r.off, r.end) == "") {
			return errTorn
		}
		at = next
	}
	return corrupt
}

// peek returns the next n bytes of the file from off on, or fewer at the end.
func (r *frameReader) peek(n int) ([]byte, error) {
	n = int(min(int64(n), r.end-r.off))
	if len(r.buffer) < n {
		want := min(int64(len(r.space)), r.end-r.off)
		got, err := readAt(r.file, r.space[:want], r.off)
		if err != nil {
			return nil, err
		}
		if got < n {
			return nil, fmt.Errorf("%w: the file has become shorter", runlog.ErrCorrupt)
		}
		r.buffer = r.space[:got]
	}
	return r.buffer[:n], nil
}
