//go:build unix

package broker

import "syscall"

// descriptors returns how many files and connections this process may have open.
func descriptors() uint64 {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return uint64(l.Cur) // of another type on some systems
}
