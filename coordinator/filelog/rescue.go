package filelog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/zofl/zofl/coordinator/internal/roster"
	"github.com/zofl/zofl/internal/disk"
)

// A rescued is a copy of the log that the coordinator made after somebody removed or replaced the
// log's file.
type rescued struct {
	dir string
	n   uint64 // the copy's last record
}

// rescue copies the log's records into a directory beside the log's own, unless a copy has all
// records already. rescue returns a text that says where the copy is, and how to continue the run
// with it. The copy has no vectors.
func (f *Log) rescue() string {
	if f.rescued.dir == "" || f.rescued.n != f.tail.N {
		dir, err := f.copyBeside()
		if err != nil {
			return "its records are lost when this coordinator stops, because they cannot be copied: " +
				err.Error()
		}
		f.rescued = rescued{dir, f.tail.N}
	}
	return "if it is gone, stop this coordinator and start it with --store " + f.rescued.dir +
		", which has all its records"
}

func (f *Log) copyBeside() (dir string, err error) {
	for i := 1; ; i++ {
		dir = fmt.Sprintf("%s.rescued-%d", filepath.Clean(f.dir), i)
		if err = f.fs.Mkdir(dir); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	put := func(name string, content io.Reader) {
		if err == nil {
			err = disk.Replace(f.fs, filepath.Join(dir, name), func(w io.Writer) error {
				_, err := io.Copy(w, content)
				return err
			})
		}
	}
	if f.base != nil {
		put("base", io.NewSectionReader(f.base.state, 0, f.base.Size))
		put("start", bytes.NewReader(startText(&f.base.Base)))
	}
	roster, _ := roster.Whole(f.first, f.roster.members, f.roster.retired).Seal(roster.Sum{})
	put("roster", bytes.NewReader(roster))
	put("epoch", strings.NewReader(fmt.Sprintf(epochFormat, f.epoch)))
	if decided, bad := f.decisions.Text(); bad == nil && !f.decisions.None() {
		put("decisions", bytes.NewReader(decided))
	}
	if f.handed != nil {
		put("handover", bytes.NewReader(f.handed))
	}
	put("seen", bytes.NewReader(seenText(f.tail.N)))
	put("log", io.NewSectionReader(f.log.file, 0, f.log.size))
	return dir, errors.Join(err, f.fs.SyncDir(filepath.Dir(dir)))
}
