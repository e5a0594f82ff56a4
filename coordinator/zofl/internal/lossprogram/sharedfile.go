package lossprogram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// prefix begins the names of files that programs map.
const prefix = "zofl-exec-"

// A sharedFile holds points, one after another, in a file that both this process and the program
// map into memory.
type sharedFile struct {
	file        *os.File
	mapped      mmap.MMap
	dim, points int
}

// newSharedFile makes a sharedFile in the system's folder for files in memory, or among the
// temporary files if there is no such folder.
func newSharedFile(dim, points int) (*sharedFile, error) {
	if size := 4 * float64(dim) * float64(points); size > math.MaxInt/2 {
		return nil, fmt.Errorf("%d points of %d parameters are too many for this machine: say a lower "+
			"points=", points, dim)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("parameters are shared on little-endian machines only")
	}
	var errs []error
	for _, dir := range []string{"/dev/shm", os.TempDir()} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		sweep(dir)
		s, err := shareIn(dir, dim, points)
		if err == nil {
			return s, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no file of %d MiB for the parameters: %w: free space, or say a lower "+
		"points=", 4*dim*points>>20, errors.Join(errs...))
}

func shareIn(dir string, dim, points int) (s *sharedFile, err error) {
	f, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return nil, err
	}
	s = &sharedFile{file: f, dim: dim, points: points}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := hold(f); err != nil {
		return nil, err
	}
	// Write zeros rather than extend the file: a full disk is an error here, but later it would kill
	// the process that writes to the mapping.
	zeros := make([]byte, 1<<20)
	for left := 4 * dim * points; left > 0; {
		n, err := f.Write(zeros[:min(left, len(zeros))])
		if err != nil {
			return nil, err
		}
		left -= n
	}
	s.mapped, err = mmap.Map(f, mmap.RDWR, 0)
	return s, err
}

// point returns the parameters of point i.
func (s *sharedFile) point(i int) []float32 {
	all := unsafe.Slice((*float32)(unsafe.Pointer(&s.mapped[0])), s.dim*s.points)
	return all[i*s.dim : (i+1)*s.dim : (i+1)*s.dim]
}

// check returns an error if a program can no longer read or write the whole file by its name. The
// system may have removed the file, and a program that opens the file for writing may have cut it.
// Reading the missing part would end this process.
func (s *sharedFile) check() error {
	named, err := os.Stat(s.file.Name())
	own, err2 := s.file.Stat()
	switch {
	case err != nil || err2 != nil || !os.SameFile(named, own):
		return errors.New("the file of the parameters is gone")
	case own.Size() < int64(len(s.mapped)):
		return errors.New("the program made the file of the parameters shorter: open it for update, " +
			`as with "r+b"`)
	}
	return nil
}

func (s *sharedFile) close() {
	if s.mapped != nil {
		_ = s.mapped.Unmap()
	}
	_ = os.Remove(s.file.Name()) // before Close: no process sweeps a file that is open
	_ = s.file.Close()
	_ = os.Remove(s.file.Name()) // again, because Windows removes no open file
}

// sweep removes the shared files of processes that were killed.
func sweep(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, name := range names {
		// A process locks a new file only a moment after it made the file.
		info, err := os.Lstat(name)
		if err == nil && time.Since(info.ModTime()) > time.Minute && abandoned(name) {
			_ = os.Remove(name)
		}
	}
}
