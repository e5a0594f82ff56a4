// Package seam opens on a simulated disk what apps can only open on a real one. Its
// variables are set by the packages that they name, when those are initialized: so
// no exported function of theirs takes a [disk.FS], which nobody outside this module
// can name.
package seam

import (
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
)

// FileLog is filelog.Open on another file system. It is nil unless package filelog
// is linked; the log is a *filelog.Log.
var FileLog func(fsys disk.FS, dir string) (runlog.Log, error)
