//go:build !linux

package mobile

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
