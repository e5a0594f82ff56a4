//go:build !linux

package docs

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func ofGroup() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) { _ = p.Kill() } // it may have ended
