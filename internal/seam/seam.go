// Package seam opens, on a simulated disk, the parts that apps can open only on a real one. So no
// exported function of the SDK takes a [disk.FS], a type that code outside this module cannot name.
package seam

import (
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

// OpenFile opens the log of a directory on a file system.
type OpenFile func(fsys disk.FS, dir string) (runlog.Log, error)

var openFileLog OpenFile

// SetFileLog is called by package filelog when it is initialized.
func SetFileLog(open OpenFile) { openFileLog = open }

// FileLog is filelog.Open on another file system; the log is a *filelog.Log. It panics unless
// the program imports package filelog.
func FileLog(fsys disk.FS, dir string) (runlog.Log, error) {
	if openFileLog == nil {
		panic("seam: no package imports coordinator/filelog: import it for its initialization")
	}
	return openFileLog(fsys, dir)
}
