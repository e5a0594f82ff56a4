package filelog

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire"
)

var _ runlog.Handovers = (*Log)(nil)

// The file "handover" has two sectors, for records with even and with odd indexes. HandOver
// overwrites the sector of the next record in place and syncs it, before Append writes the record.
// So whatever a crash leaves, the sector of the log's last record is whole, and a power cut leaves
// no sector half written. A sector is a text, filled up with zeros; the text's last line is a
// checksum of the lines before.
const (
	handoverHead   = "zofl handover 1\n"
	handoverFormat = handoverHead + "%020d %v %s\n" // index and tip of the record, state in base64
)

// handoverSector returns the content of a sector.
func handoverSector(n uint64, tip wire.Tip, state []byte) ([]byte, error) {
	if len(state) > runlog.MaxHandover {
		return nil, fmt.Errorf("%d bytes, at most %d are kept", len(state), runlog.MaxHandover)
	}
	text := fmt.Appendf(nil, handoverFormat, n, tip, base64.StdEncoding.EncodeToString(state))
	text = fmt.Appendf(text, "%08x\n", crc32.Checksum(text, castagnoli))
	return append(text, make([]byte, disk.Sector-len(text))...), nil
}

// readHandover returns what a sector holds for a record: nil if the sector is empty or is of
// another record. The error matches [runlog.ErrCorrupt].
func readHandover(sector []byte, n uint64, tip wire.Tip) ([]byte, error) {
	if allZero(sector) {
		return nil, nil
	}
	var at uint64
	var of, coded string
	_, err := fmt.Sscanf(string(sector), handoverHead+"%d %s %s\n", &at, &of, &coded)
	state, bad := base64.StdEncoding.DecodeString(coded)
	text := bytes.TrimRight(sector, "\x00")
	body := text[:max(len(text)-len("01234567\n"), 0)]
	whole := fmt.Appendf(bytes.Clone(body), "%08x\n", crc32.Checksum(body, castagnoli))
	switch {
	case err != nil || bad != nil || !bytes.Equal(whole, text):
		return nil, fmt.Errorf("handover: %w: checksum differs: remove the file if the run may go on "+
			"with another step", runlog.ErrCorrupt)
	case at != n || of != tip.String():
		return nil, nil
	}
	return state, nil
}

// HandOver implements [runlog.Handovers].
func (f *Log) HandOver(_ context.Context, n uint64, tip wire.Tip, state []byte) error {
	if f.fixed {
		return errFixed
	}
	sector, err := handoverSector(n, tip, state)
	if f.handover != nil {
		if _, gone := f.handover.Mark(); gone != nil { // somebody put another file there
			err = errors.Join(err, f.handover.Close())
			f.handover = nil
		}
	}
	if err == nil && f.handover == nil {
		err = f.openHandover()
	}
	at := n % 2 * disk.Sector
	if err == nil {
		_, err = f.handover.WriteAt(sector, int64(at))
	}
	if err == nil {
		err = f.handover.Sync()
	}
	if err != nil {
		return fmt.Errorf("log: handover: %w", err)
	}
	copy(f.handed[at:], sector)
	return nil
}

// openHandover writes the file anew and opens it.
func (f *Log) openHandover() error {
	err := f.unchanged()
	if err == nil {
		err = f.readSectors()
	}
	if err == nil {
		err = disk.Replace(f.fs, f.path("handover"), func(w io.Writer) error {
			_, err := w.Write(f.handed)
			return err
		})
	}
	if err != nil {
		return err
	}
	file, err := f.fs.Open(f.path("handover"), os.O_RDWR)
	if err == nil {
		f.handover = file
	}
	return err
}

// readSectors reads the file once. Without a file both sectors are empty.
func (f *Log) readSectors() error {
	if f.handed != nil {
		return nil
	}
	b, err := readWhole(f.fs, f.path("handover"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.handed = append(b, make([]byte, 2*disk.Sector)...)[:2*disk.Sector]
	return nil
}

// HandedOver implements [runlog.Handovers]. The error matches [runlog.ErrCorrupt] if the last
// record's sector is damaged.
func (f *Log) HandedOver(context.Context) (state []byte, err error) {
	f.mu.Lock()
	tail := f.tail
	f.mu.Unlock()
	if err = f.readSectors(); err == nil {
		at := tail.N % 2 * disk.Sector
		state, err = readHandover(f.handed[at:at+disk.Sector], tail.N, tail.Hash.Tip())
	}
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return state, nil
}
