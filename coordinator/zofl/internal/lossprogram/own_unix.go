//go:build unix

package lossprogram

import (
	"os"
	"os/exec"
	"syscall"
)

// hold marks a file as in use for as long as this process has it open.
func hold(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// abandoned says whether no process holds a file of this user.
func abandoned(name string) bool {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return hold(f) == nil
}

// apart gives a program a process group of its own: it is killed with its children, and Ctrl-C
// reaches zofl alone, which then ends it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a program and its children.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill() // it may have left its group
}
