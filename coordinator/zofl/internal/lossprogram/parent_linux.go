package lossprogram

import "syscall"

// endWithParent makes the kernel kill a program when the thread that started it ends.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
