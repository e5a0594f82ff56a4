package main

import (
	"fmt"
	"os"
	"strings"
)

// A resident is the resident memory of a process, in bytes.
type resident struct {
	peak int64 // VmHWM: the peak since the start
	now  int64 // VmRSS
	anon int64 // RssAnon: heap, stacks and the runtime's own
	file int64 // RssFile: pages of the program in use
}

// memoryOf returns the resident memory of a process.
func memoryOf(pid int) (resident, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return resident{}, err
	}
	return parseStatus(string(b))
}

// parseStatus reads /proc/<pid>/status. A missing line is an error, because the status of an ended
// process has none of these lines.
func parseStatus(text string) (r resident, err error) {
	fields := map[string]*int64{"VmHWM": &r.peak, "VmRSS": &r.now, "RssAnon": &r.anon,
		"RssFile": &r.file}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		to := fields[name]
		if to == nil {
			continue
		}
		if _, err := fmt.Sscanf(value, "%d kB", to); err != nil {
			return resident{}, fmt.Errorf("status: %s is %q, want a number of kB",
				name, strings.TrimSpace(value))
		}
		*to <<= 10
		delete(fields, name)
	}
	for name := range fields {
		return resident{}, fmt.Errorf("status: no %s: has the process ended?", name)
	}
	return r, nil
}
