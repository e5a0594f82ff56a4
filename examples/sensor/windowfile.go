package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/zofl/zofl/client"
)

// A window's file is
//
//	"zofl window 1\n"  period: 8 bytes, ns   last slot: 8   slots: 4
//	channels' names: 2 bytes for their length, joined by spaces
//	readings: 4 bytes each, by slot, then channel
//	CRC-32 of all that: 4
//
// little-endian, about 16 KiB for each channel of 4,000 slots. The store always replaces the
// whole file: see [client.OpenStore].
const windowMagic = "zofl window 1\n"

// lastSlot is later than any slot of a clock. lastSlot leaves room for counting further slots
// without overflow.
const lastSlot = math.MaxInt64 / 2

// item returns the name of the file in its store. Each period and set of channels has its own
// file, so that a configuration that is wrong for a time does not overwrite the earlier readings.
func (s *station) item() string {
	b := windowOrder.AppendUint64(nil, uint64(s.window.period))
	return fmt.Sprintf("window-%08x", crc32.ChecksumIEEE(append(b, s.names()...)))
}

var (
	errDamaged  = errors.New("the file is torn or damaged")
	errOther    = errors.New("the file is of other channels or another period")
	windowOrder = binary.LittleEndian
)

// head returns the beginning of the file, up to the number of slots.
func (s *station) head() []byte {
	w := s.window
	b := windowOrder.AppendUint64([]byte(windowMagic), uint64(w.period))
	b = windowOrder.AppendUint64(b, uint64(w.last))
	return windowOrder.AppendUint32(b, uint32(w.held))
}

func (s *station) names() string {
	var names []string
	for _, c := range s.cfg.Channels {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// encode returns the window in the form of its file.
func (s *station) encode() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, names := s.head(), s.names()
	b = append(windowOrder.AppendUint16(b, uint16(len(names))), names...)
	if s.window.held > 0 {
		for slot := s.window.first(); slot <= s.window.last; slot++ {
			for _, v := range s.window.at(slot) {
				b = windowOrder.AppendUint32(b, math.Float32bits(v))
			}
		}
	}
	return windowOrder.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// decode reads the readings of a file. After an error the window is empty.
func (s *station) decode(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window.clear()
	fixed := len(s.head())
	if len(b) < fixed+6 || !bytes.HasPrefix(b, []byte(windowMagic)) ||
		crc32.ChecksumIEEE(b[:len(b)-4]) != windowOrder.Uint32(b[len(b)-4:]) {
		return errDamaged
	}
	h, b := b[len(windowMagic):fixed], b[fixed:len(b)-4]
	period, last, held := windowOrder.Uint64(h), int64(windowOrder.Uint64(h[8:])),
		int64(windowOrder.Uint32(h[16:]))
	names := int(windowOrder.Uint16(b))
	if b = b[2:]; names > len(b) {
		return errDamaged
	}
	if period != uint64(s.window.period) || string(b[:names]) != s.names() {
		return errOther
	}
	if b = b[names:]; int64(len(b)) != 4*held*int64(s.channels) || last < -lastSlot ||
		last > lastSlot {
		return errDamaged
	}
	s.take(last, held, b)
	return nil
}

// take puts the readings of a file into the window, which may have become shorter.
func (s *station) take(last, held int64, b []byte) {
	values := make([]float32, s.channels)
	for slot := last - held + 1; slot <= last; slot++ {
		for c := range values {
			values[c] = math.Float32frombits(windowOrder.Uint32(b))
			b = b[4:]
		}
		s.window.put(slot, values)
	}
}

// save saves the window.
func (s *station) save(store client.Store) error {
	b := s.encode()
	return store.Save(s.item(), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// load loads the window that an earlier process saved. load returns nil if there is no saved
// window, and sets a window aside that it cannot use.
func (s *station) load(store client.Store) error {
	err := store.Load(s.item(), func(r *io.SectionReader) error {
		if r.Size() > s.largest() {
			return errOther
		}
		b := make([]byte, r.Size())
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		return s.decode(b)
	})
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(fmt.Errorf("earlier readings: %w", err), store.SetAside(s.item()))
}

// largest limits the file: a window of the largest size that can be configured.
func (s *station) largest() int64 { return 1<<16 + 4<<20*int64(s.channels) }
