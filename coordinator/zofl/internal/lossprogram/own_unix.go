//go:build unix

package lossprogram

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
)

// hold marks a file as in use for as long as this process has it open.
func hold(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// abandoned says whether a file belongs to this user and no process holds it.
func abandoned(name string) bool {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return hold(f) == nil
}

// apart gives a program a process group of its own. So zofl can kill the program together with its
// children. Ctrl-C reaches only zofl, and zofl then ends the program.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// guard starts a shell that kills a program and its children when this process ends in any way. The
// shell reads from a pipe, and the pipe ends when this process ends. Without a shell on the system,
// guard does nothing.
func guard(p *os.Process) (release func()) {
	release = func() {}
	r, w, err := os.Pipe()
	if err != nil {
		return release
	}
	defer r.Close()
	shell := exec.Command("sh", "-c", "read line; kill -s KILL -- -"+strconv.Itoa(p.Pid))
	shell.Stdin = r
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C does not reach it
	if err := shell.Start(); err != nil {
		w.Close()
		return release
	}
	return func() {
		_ = shell.Process.Kill()
		_ = shell.Wait()
		w.Close()
	}
}

// lockOf takes the lock of a path. While another zofl or its program holds the lock, lockOf waits,
// and calls waits once.
func lockOf(ctx context.Context, path string, waits func()) (*os.File, error) {
	for told := false; ; {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		err = hold(f)
		if named, bad := os.Stat(path); err == nil && bad == nil {
			if own, bad := f.Stat(); bad == nil && os.SameFile(own, named) {
				return f, nil
			}
		}
		f.Close()
		switch {
		case err == nil: // the holder has just removed the file
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, err
		case !told:
			told = true
			waits()
		}
		if err := pause.For(ctx, lockEvery); err != nil {
			return nil, err
		}
	}
}

const lockEvery = 100 * time.Millisecond

// killGroup kills a program and its children.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill() // the program may have left its group
}
