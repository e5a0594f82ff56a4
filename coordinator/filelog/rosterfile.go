package filelog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/zofl/zofl/coordinator/internal/roster"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// oldRosterHead is the first line of a roster without a checksum, the form that earlier versions
// wrote. The ids follow in the order of their slots, one a line.
const oldRosterHead = "zofl roster 1\n"

// A rosterFile is the file of members: one batch of package roster. write replaces the whole file,
// so a crash leaves the old file or the new one. Any other content is damage.
type rosterFile struct {
	fs      disk.FS
	path    string
	log     wire.Hash // hash of record 1 of the log to which the roster belongs
	members []string
	retired []string
	old     bool // the file has the old form
	absent  bool
	torn    int // bytes of the old form's last line, which is unfinished
}

// openRoster reads a roster. first is the hash of the log's record 1, zero for an empty log.
func openRoster(fsys disk.FS, path string, first wire.Hash) (*rosterFile, error) {
	r := &rosterFile{fs: fsys, path: path, log: first}
	text, err := readWhole(fsys, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.absent, err = true, nil
	case err != nil:
	case first == wire.Hash{} && unborn(text):
		r.old = true
	case strings.HasPrefix(string(text), oldRosterHead):
		err = r.readOld(text[len(oldRosterHead):])
	default:
		err = r.read(text)
	}
	if err == nil && r.absent && first != (wire.Hash{}) {
		err = fmt.Errorf("%w: the file is missing, and the log has records: restore it from a "+
			"copy, or make it: the line \"zofl roster 1\", then each member's id on a line, in the order "+
			"of slots; or give `zofl recover` a device's checkpoint", runlog.ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	return r, nil
}

// unborn says whether the text is what an earlier version left when it was interrupted while it
// created the file.
func unborn(text []byte) bool {
	return strings.HasPrefix(oldRosterHead, string(text)) ||
		len(text) <= len(oldRosterHead) && allZero(text)
}

func (r *rosterFile) read(text []byte) error {
	batch, _, err := roster.Open(text, roster.Sum{})
	if err != nil {
		return err
	}
	none := wire.Hash{}
	if r.log != none && batch.Log != none && batch.Log != r.log {
		return fmt.Errorf("%w: it belongs to a log whose record 1 has hash %v; this log's has %v",
			runlog.ErrCorrupt, batch.Log, r.log)
	}
	if r.log == none {
		r.log = batch.Log
	}
	r.members, r.retired, err = batch.Follow(nil, nil)
	return err
}

// readOld reads the lines of the old form. The last line may be unfinished, because a crash
// interrupted its append. No coordinator has used the id in that line.
func (r *rosterFile) readOld(text []byte) error {
	r.old = true
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		if !whole {
			r.torn = len(text)
			break
		}
		id := string(line)
		if err := plan.CheckName(id); err != nil {
			return fmt.Errorf("line %d: %w: %w", len(r.members)+2, runlog.ErrCorrupt, err)
		}
		r.members = append(r.members, id)
		text = rest
	}
	return nil
}

// write stores a roster. After an error the file holds the old roster or the new one.
func (r *rosterFile) write(first wire.Hash, members, retired []string) error {
	text, _ := roster.Whole(first, members, retired).Seal(roster.Sum{})
	err := disk.Replace(r.fs, r.path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("roster: %w", err)
	}
	r.log, r.members, r.retired, r.old, r.absent = first, members, retired, false, false
	return nil
}

// add gives the next slots to ids, in order.
func (r *rosterFile) add(first wire.Hash, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return r.write(first, append(r.members[:len(r.members):len(r.members)], ids...), r.retired)
}

// retire retires a member.
func (r *rosterFile) retire(first wire.Hash, id string) error {
	due, err := runlog.MayRetire(r.members, r.retired, id)
	if !due {
		return err
	}
	return r.write(first, r.members, append(r.retired[:len(r.retired):len(r.retired)], id))
}

func readWhole(fsys disk.FS, path string) ([]byte, error) {
	file, err := fsys.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	size, err := file.Size()
	b := make([]byte, max(size, 0))
	if err == nil {
		var n int
		n, err = readAt(file, b, 0)
		b = b[:n]
	}
	return b, errors.Join(err, file.Close())
}
