package disktest

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"

	"github.com/zofl/zofl/internal/disk"
)

// A handle is an open file.
type handle struct {
	disk   *Disk
	file   *file
	path   string
	life   int
	flag   int
	closed bool
}

// begin starts an operation. fault is the simulated failure of the operation, if any. unusable says
// why the handle cannot be used, or is nil.
func (h *handle) begin(o operation, change bool) (fault, unusable error) {
	switch {
	case h.life != h.disk.life:
		unusable = ErrPowerOff
	case h.closed:
		unusable = fs.ErrClosed
	case o.off < 0:
		unusable = syscall.EINVAL
	}
	if unusable != nil {
		return nil, failed(o.name, h.path, unusable)
	}
	o.path = h.path
	if fault = h.disk.begin(o, change); fault != nil {
		fault = failed(o.name, h.path, fault)
	}
	if h.disk.faults.off {
		return nil, fault
	}
	return fault, nil
}

func (h *handle) ReadAt(b []byte, off int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	fault, err := h.begin(operation{name: "read", off: off, size: int64(len(b))}, false)
	switch {
	case err != nil:
		return 0, err
	case fault != nil:
		return 0, fault
	case h.disk.faults.read != nil:
		return 0, failed("read", h.path, h.disk.faults.read)
	}
	n := 0
	if off < int64(len(h.file.data)) {
		n = copy(b, h.file.data[off:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(b []byte, off int64) (int, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if !h.writable() {
		return 0, failed("write", h.path, syscall.EBADF)
	}
	fault, err := h.begin(operation{name: "write", off: off, size: int64(len(b))}, true)
	if err != nil {
		return 0, err
	}
	n, err := len(b), fault
	if fault != nil {
		n /= 2
	} else if room := h.room(off); room < int64(n) {
		n, err = int(room), failed("write", h.path, syscall.ENOSPC)
	}
	if n > 0 {
		h.file.change(change{off: off, data: bytes.Clone(b[:n])})
	}
	return n, err
}

func (h *handle) writable() bool { return h.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

// room returns the number of bytes that a write may write.
func (h *handle) room(off int64) int64 {
	d := h.disk
	if !d.faults.limited {
		return math.MaxInt64
	}
	free := max(0, d.faults.limit-used(d.root))
	return max(0, int64(len(h.file.data))-off+free)
}

func (h *handle) Truncate(size int64) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if !h.writable() {
		return failed("truncate", h.path, syscall.EINVAL)
	}
	fault, err := h.begin(operation{name: "truncate", off: size}, true)
	if err != nil || fault != nil {
		return cmp.Or(err, fault)
	}
	h.file.change(change{off: size, truncate: true})
	return nil
}

func (h *handle) Sync() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	fault, err := h.begin(operation{name: "sync"}, true)
	switch {
	case err != nil:
	case fault != nil:
		h.file.syncFailed()
	default:
		h.file.sync()
	}
	return cmp.Or(err, fault)
}

func (h *handle) Size() (int64, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	fault, err := h.begin(operation{name: "size"}, false)
	return int64(len(h.file.data)), cmp.Or(err, fault)
}

// Mark implements [disk.File] with a clock that each change advances.
func (h *handle) Mark() (disk.Mark, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	fault, err := h.begin(operation{name: "mark"}, false)
	if err = cmp.Or(err, fault); err != nil {
		return disk.Mark{}, err
	}
	_, _, n, err := h.disk.find(h.path)
	switch {
	case err == nil && n == nil:
		err = fs.ErrNotExist
	case err == nil && n.file != h.file:
		err = disk.ErrReplaced
	}
	if err != nil {
		return disk.Mark{}, failed("mark", h.path, err)
	}
	return disk.Mark{Size: int64(len(h.file.data)), Changed: h.file.changed}, nil
}

func (h *handle) Close() error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	fault, err := h.begin(operation{name: "close"}, false)
	h.closed = true
	return cmp.Or(err, fault)
}
