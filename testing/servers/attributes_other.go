//go:build unix && !linux

package servers

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
