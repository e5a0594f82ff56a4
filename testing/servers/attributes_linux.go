package servers

import "syscall"

// attributes end a server when this program is killed, too.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
