package main

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time of this process, of user and system.
func cpuTime() time.Duration {
	var created, ended, kernel, user syscall.Filetime
	process, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(process, &created, &ended, &kernel, &user)
	}
	if err != nil {
		return 0
	}
	of := func(t syscall.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (of(kernel) + of(user))) // in units of 100 ns
}
