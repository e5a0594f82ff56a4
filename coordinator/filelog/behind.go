package filelog

import (
	"bytes"
	"fmt"
	"io"

	"github.com/zofl/zofl/wire"
)

// searchSize is how many bytes are searched at once for intact records.
const searchSize = 1 << 20

// behind names the intact records between off and end, where frames are damaged; "" if there are
// none. It looks for a frame at each byte, because nothing says where the next one begins.
func behind(file io.ReaderAt, off, end int64) string {
	count, first, last := 0, uint64(0), uint64(0)
	space := make([]byte, min(searchSize+frameWord, max(0, end-off)))
	for off+frameWord < end {
		n, err := readAt(file, space, off)
		if err != nil {
			break
		}
		b := space[:min(int64(n), end-off)]
		step := len(b) - frameWord + 1
		if step <= 0 {
			break
		}
		for at := range step {
			length, _, ok := frameHead(b[at:])
			if !ok {
				continue
			}
			if r := recordAt(file, off+int64(at), end, length); r != nil {
				if count++; count == 1 {
					first = r.N
				}
				last, step = r.N, at+frameWord+length
				break
			}
		}
		off += int64(step)
	}
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; record %d is behind it, and intact", first)
	}
	return fmt.Sprintf("; %d intact records are behind it, from %d to %d", count, first, last)
}

// recordAt returns the record in a frame of a length, nil if it is damaged.
func recordAt(file io.ReaderAt, off, end int64, length int) *wire.Record {
	frame := make([]byte, frameWord+length)
	if off+int64(len(frame)) > end {
		return nil
	}
	n, err := readAt(file, frame, off)
	if err != nil || n < len(frame) {
		return nil
	}
	record, err := newFrameReader(bytes.NewReader(frame), 0, int64(n)).next()
	if err != nil {
		return nil
	}
	r, err := wire.DecodeRecord(record)
	if err != nil {
		return nil
	}
	return &r
}
