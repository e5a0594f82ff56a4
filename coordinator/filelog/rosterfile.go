package filelog

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire"
)

// rosterHead begins the file of members. Each id follows on a line of its own, by slot.
const rosterHead = "zofl roster 1\n"

// A rosterFile is the file of members.
type rosterFile struct {
	tail *tailFile
	ids  []string
}

// openRoster reads a roster, and cuts off a line that a crash left unfinished.
func openRoster(fsys disk.FS, path string) (*rosterFile, error) {
	tail, err := openTail(fsys, path, rosterHead)
	if err != nil {
		return nil, err
	}
	r := &rosterFile{tail: tail}
	if err := r.read(); err != nil {
		tail.file.Close()
		return nil, fmt.Errorf("roster: %w", err)
	}
	return r, nil
}

// read reads the lines and ends the file after the last complete one.
func (r *rosterFile) read() error {
	b := make([]byte, r.tail.size)
	n, err := readAt(r.tail.file, b, 0)
	if err != nil {
		return err
	}
	end := len(rosterHead)
	b = b[min(n, end):n]
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole {
			break
		}
		id := string(line)
		if err := wire.CheckName(id); err != nil {
			return fmt.Errorf("line %d: %w: %w", len(r.ids)+2, runlog.ErrCorrupt, err)
		}
		r.ids = append(r.ids, id)
		end += len(line) + 1
		b = rest
	}
	last := end - 1
	return r.tail.settle(int64(last-last%disk.Sector), int64(end))
}

// add appends ids, one sector at a time. Lines have no checksum; this way a crash always leaves the
// beginning of what was added, never a later part alone.
func (r *rosterFile) add(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	start := r.tail.size
	b := []byte(strings.Join(ids, "\n") + "\n")
	for len(b) > 0 {
		n := min(disk.Sector-int(r.tail.size%disk.Sector), len(b))
		if err := r.tail.append(b[:n]); err != nil {
			r.tail.size = start
			return err
		}
		b = b[n:]
	}
	r.ids = append(r.ids, ids...)
	return nil
}
