package coordinator

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/zofl/zofl/wire"
)

// rosterHead begins the file of members; each id follows on a line, in the
// order of slots.
const rosterHead = "zofl roster 1\n"

// A rosterFile is the file of members.
type rosterFile struct {
	file *os.File
	ids  []string
	size int64 // of what is known to be on the disk
}

// openRoster reads a roster; the torn line of an append that a crash cut short
// is cut off.
func openRoster(path string) (*rosterFile, error) {
	file, err := openWithHead(path, rosterHead)
	if err != nil {
		return nil, err
	}
	r := &rosterFile{file: file}
	if err := r.read(); err != nil {
		file.Close()
		return nil, fmt.Errorf("roster: %w", err)
	}
	return r, nil
}

func (r *rosterFile) read() error {
	b, err := io.ReadAll(r.file)
	if err != nil {
		return err
	}
	b = b[len(rosterHead):]
	r.size = int64(len(rosterHead))
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole {
			return writeAt(r.file, nil, r.size)
		}
		id := string(line)
		if err := wire.CheckName(id); err != nil {
			return fmt.Errorf("line %d: %w: %w", len(r.ids)+2, ErrCorrupt, err)
		}
		r.ids = append(r.ids, id)
		r.size += int64(len(line)) + 1
		b = rest
	}
	return nil
}

// add appends ids in one write and one sync.
func (r *rosterFile) add(ids []string) error {
	b := []byte(strings.Join(ids, "\n") + "\n")
	if err := writeAt(r.file, b, r.size); err != nil {
		return err
	}
	r.size += int64(len(b))
	r.ids = append(r.ids, ids...)
	return nil
}
