// Package seam lets tests and simulations open a log on a simulated disk. Apps can open a log only
// on a real disk, because no exported function of the SDK takes a [disk.FS], a type that code
// outside this module cannot name.
package seam

import (
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

// OpenFile opens the log of a directory on a file system.
type OpenFile func(fsys disk.FS, dir string) (runlog.Log, error)

var openFileLog OpenFile

// SetFileLog sets the function that FileLog calls. Package filelog calls SetFileLog in its
// initialization.
func SetFileLog(open OpenFile) { openFileLog = open }

// FileLog is filelog.Open on another file system. The log is a *filelog.Log. FileLog panics unless
// the program imports package filelog.
func FileLog(fsys disk.FS, dir string) (runlog.Log, error) {
	if openFileLog == nil {
		panic("seam: no package imports coordinator/filelog: import it for its initialization")
	}
	return openFileLog(fsys, dir)
}
