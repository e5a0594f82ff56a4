//go:build !unix

package lossprogram

import (
	"context"
	"os"
	"os/exec"
	"strconv"
)

// hold does nothing: a file that a process has open cannot be removed here.
func hold(*os.File) error { return nil }

func abandoned(string) bool { return true }

func apart(*exec.Cmd) {}

// guard does nothing: the program ends when it reads next, because its input has ended.
func guard(*os.Process) (release func()) { return func() {} }

// lockOf takes no lock: a file cannot be passed on here.
func lockOf(context.Context, string, func()) (*os.File, error) { return nil, nil }

// killGroup kills a program and its children.
func killGroup(p *os.Process) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() != nil {
		_ = p.Kill()
	}
}
