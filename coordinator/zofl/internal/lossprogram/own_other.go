//go:build !unix

package lossprogram

import (
	"os"
	"os/exec"
	"strconv"
)

// hold does nothing: a file that a process has open cannot be removed here.
func hold(*os.File) error { return nil }

func abandoned(string) bool { return true }

func apart(*exec.Cmd) {}

// killGroup kills a program and its children.
func killGroup(p *os.Process) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() != nil {
		_ = p.Kill()
	}
}
