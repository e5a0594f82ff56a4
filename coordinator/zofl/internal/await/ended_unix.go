//go:build unix

package await

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Ended says whether a process has ended. A zombie, for which no parent has waited, counts as
// ended.
func Ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
}
