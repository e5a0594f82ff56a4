package filelog

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

// mostIdle bounds how often unchanged reads the whole log again and finds the same bytes. After
// that many times, unchanged assumes that the file system itself changes the times of files, and
// compares only sizes.
const mostIdle = 3

// unchanged returns an error if another process removed, renamed, replaced, cut, extended or
// overwrote the file of records. Once somebody has restored the file, unchanged returns nil again.
func (f *Log) unchanged() error {
	log := f.log
	mark, err := log.file.Mark()
	switch {
	case err != nil:
		return f.explain(err)
	case mark == log.mark || log.idle == mostIdle && mark.Size == log.mark.Size:
		return nil
	}
	if err := log.resized(mark.Size); err != nil {
		return f.explain(err)
	}
	if err := f.readAgain(); err != nil {
		return err
	}
	log.mark = mark
	log.idle++
	return nil
}

// resized returns an error if the size of the file shows that another process changed the file.
func (f *tailFile) resized(size int64) error {
	end := f.size
	if f.dirty {
		end = max(end, f.reach)
	}
	switch {
	case size < f.size:
		return &foreignError{fmt.Sprintf("somebody cut the log from %d to %d bytes", f.size, size),
			putBack}
	case size > end:
		return &foreignError{fmt.Sprintf("another program wrote %s to the end of the log",
			inBytes(size-end)), fmt.Sprintf("end that program, then cut the log to %d bytes, and the "+
			"run goes on", f.size)}
	}
	return nil
}

// readAgain returns an error if the records in the file are not those that were stored.
func (f *Log) readAgain() error {
	head := make([]byte, len(logHead))
	if _, err := readAt(f.log.file, head, 0); err != nil {
		return err
	}
	var tail runlog.Chain
	if f.base != nil {
		tail = f.base.Tip()
	}
	r := newFrameReader(f.log.file, int64(len(head)), f.log.size)
	var err error
	for string(head) == logHead {
		var record []byte
		if record, err = r.next(); err != nil || record == nil {
			break
		}
		if _, err = tail.Follow(record); err != nil {
			break
		}
	}
	switch {
	case err != nil && !errors.Is(err, runlog.ErrCorrupt) && !errors.Is(err, errTorn):
		return err
	case tail != f.tail:
		return f.explain(&foreignError{fmt.Sprintf("somebody wrote into the log: after record %d it is "+
			"not what was stored", tail.N), putBack})
	}
	return nil
}

// A foreignError says what another process did to the file of records. A foreignError does not
// match [runlog.ErrCorrupt], because the run can go on once the file is restored.
type foreignError struct{ what, remedy string }

const putBack = "put the bytes back from a copy, and the run goes on; without one, stop this " +
	"coordinator and use zofl recover"

func (e *foreignError) Error() string { return e.what + ": " + e.remedy }

// explain adds to an error about the file of records what a person can do.
func (f *Log) explain(err error) error {
	var foreign *foreignError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &foreign):
		return fmt.Errorf("%s: %w", f.path("log"), err)
	case errors.Is(err, disk.ErrReplaced):
		return fmt.Errorf("%w: somebody put it in the place of the log: put the log back, and the run "+
			"goes on; %s", err, f.rescue())
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: somebody removed or renamed the log: put it back, and the run goes on; "+
			"%s", err, f.rescue())
	}
	return fmt.Errorf("%w: the run goes on once the log can be written again", err)
}
