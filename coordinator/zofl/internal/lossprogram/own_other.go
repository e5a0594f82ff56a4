//go:build !unix

package lossprogram

import (
	"context"
	"os"
	"os/exec"
	"strconv"
)

// hold does nothing, because this operating system does not remove a file that a process has open.
func hold(*os.File) error { return nil }

func abandoned(string) bool { return true }

func apart(*exec.Cmd) {}

// guard does nothing. When this process has ended, the program's input ends, and the program ends
// at its next read.
func guard(*os.Process) (release func()) { return func() {} }

// lockOf takes no lock, because a process cannot pass an open file to a program on this operating
// system.
func lockOf(context.Context, string, func()) (*os.File, error) { return nil, nil }

// killGroup kills a program and its children.
func killGroup(p *os.Process) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() != nil {
		_ = p.Kill()
	}
}
