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

// A shape says what a shared file has room for: points, one after another; or x and after it the
// signs of points, a byte each.
type shape struct {
	dim, points int
	factors     factors // the zero value: points
}

// bytes returns the length of the file, for which an int may be too small.
func (s *shape) bytes() float64 {
	if s.factors.count > 0 {
		return 4*float64(s.dim) + float64(s.factors.count)*float64(s.points)
	}
	return 4 * float64(s.dim) * float64(s.points)
}

// serves says whether a file of this shape serves for another one.
func (s *shape) serves(want shape) bool {
	return s.points >= want.points && s.factors.count == want.factors.count &&
		s.factors.shapes == want.factors.shapes
}

// A sharedFile is a file that both this process and the program map into memory.
type sharedFile struct {
	shape
	file   *os.File
	mapped mmap.MMap
	holds  string // with factors: the name of x; "": none
	writes uint64 // with factors: the number of the last write of x
}

// newSharedFile makes a sharedFile in the system's folder for files in memory, or among the
// temporary files if there is no such folder.
func newSharedFile(want shape) (*sharedFile, error) {
	if want.bytes() > math.MaxInt/2 {
		return nil, fmt.Errorf("%d points of %d parameters are too many for this machine: say a lower "+
			"points=", want.points, want.dim)
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
		s, err := shareIn(dir, want)
		if err == nil {
			return s, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no file of %d MiB for the parameters: %w: free space, or say a lower "+
		"points=", int(want.bytes())>>20, errors.Join(errs...))
}

func shareIn(dir string, want shape) (s *sharedFile, err error) {
	f, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return nil, err
	}
	s = &sharedFile{shape: want, file: f}
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
	for left := int(want.bytes()); left > 0; {
		n, err := f.Write(zeros[:min(left, len(zeros))])
		if err != nil {
			return nil, err
		}
		left -= n
	}
	s.mapped, err = mmap.Map(f, mmap.RDWR, 0)
	return s, err
}

// request is the line that tells the program of the file.
func (s *sharedFile) request() string {
	if s.factors.count > 0 {
		return fmt.Sprintf("map dim=%d points=%d factors=%d shapes=%s path=%s", s.dim, s.points,
			s.factors.count, s.factors.shapes, s.file.Name())
	}
	return fmt.Sprintf("map dim=%d points=%d path=%s", s.dim, s.points, s.file.Name())
}

// point returns the parameters of point i, which with factors is 0: x.
func (s *sharedFile) point(i int) []float32 {
	all := unsafe.Slice((*float32)(unsafe.Pointer(&s.mapped[0])), len(s.mapped)/4)
	return all[i*s.dim : (i+1)*s.dim : (i+1)*s.dim]
}

// signs returns the signs of point i.
func (s *sharedFile) signs(i int) []byte {
	at, n := 4*s.dim+i*s.factors.count, s.factors.count
	return s.mapped[at : at+n : at+n]
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
