package filelog

import (
	"bytes"
	"fmt"
	"io"

	"github.com/zofl/zofl/wire"
)

// searchSize is how many bytes behind reads at once to search for intact records.
const searchSize = 1 << 20

// behind describes the intact records in the file between off, where a damaged frame begins, and
// end. behind returns "" if there are no intact records. behind tries each byte as the beginning of
// a frame, because the damaged frame does not say where the next frame begins.
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

// recordAt returns the record in the frame at off, or nil if the frame is damaged. length is the
// length of the record.
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
