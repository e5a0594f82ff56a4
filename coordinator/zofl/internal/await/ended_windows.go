package await

import "os"

// Ended says whether a process has ended.
func Ended(pid int) bool {
	p, err := os.FindProcess(pid) // opens it
	if err != nil {
		return true
	}
	_ = p.Release()
	return false
}
