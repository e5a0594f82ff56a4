package disk

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// Flags and an error of LockFileEx.
const (
	failImmediately = 1
	exclusiveLock   = 2
	lockViolation   = syscall.Errno(33)
)

// acquire locks an open file without waiting. The error is [ErrLocked] if another process has it.
// acquire locks a byte far behind the file's end, because other processes cannot read locked bytes.
// Windows releases the lock when the file is closed, or the process ends.
func acquire(file *os.File, exclusive bool) error {
	flags := uintptr(failImmediately)
	if exclusive {
		flags |= exclusiveLock
	}
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	ok, _, err := lockFileEx.Call(file.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, lockViolation), errors.Is(err, syscall.ERROR_IO_PENDING):
		return ErrLocked
	}
	return err
}

// syncDir does nothing, because Windows does not sync folders.
func syncDir(string) error { return nil }
