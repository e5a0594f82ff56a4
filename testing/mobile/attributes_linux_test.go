package mobile

import "syscall"

// attributes end a process when this program is killed, too.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
