package lossprogram

import "syscall"

// endWithParent lets the kernel kill a program when the thread ends that started it.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
