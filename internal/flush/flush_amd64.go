package flush

import "runtime"

func mxcsr() uint32

func setMXCSR(bits uint32)

func while(f func()) bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := mxcsr()
	defer setMXCSR(before)
	setMXCSR(before | both)
	f()
	return true
}
