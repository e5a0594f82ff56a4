package kernelbench

import (
	"bufio"
	"bytes"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes the machine. A field is empty or 0 if the system does not say.
type Machine struct {
	CPU       string `json:"cpu,omitempty"`
	Cores     int    `json:"cores"`
	OS        string `json:"goos"`
	Arch      string `json:"goarch"`
	Go        string `json:"go"`
	Cache     int    `json:"cache_bytes,omitempty"`      // size of the largest cache
	Available uint64 `json:"memory_available,omitempty"` // bytes
	Load      string `json:"load,omitempty"`             // before measuring: over 1, 5 and 15 minutes
}

func describe() Machine {
	m := Machine{Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Go: runtime.Version()}
	// Linux has the processor's "model name" on amd64 and 32-bit ARM. On other boards, take the
	// board's "Model".
	info := fields("/proc/cpuinfo")
	m.CPU = cmp.Or(info["model name"], info["Model"])
	kib, _ := strconv.ParseUint(strings.TrimSuffix(fields("/proc/meminfo")["MemAvailable"], " kB"),
		10, 50)
	m.Available = kib << 10
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.Join(strings.Fields(string(load))[:3], " ")
	}
	// The pattern is valid, so there is no error.
	sizes, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*/size")
	for _, name := range sizes {
		text, _ := os.ReadFile(name) // an unreadable file counts as size 0
		size, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"))
		m.Cache = max(m.Cache, size<<10)
	}
	return m
}

// fields returns the values of the lines "name: value" in a file, by name. Of several lines with
// the same name, the first counts. fields returns an empty map if the file does not exist.
func fields(file string) map[string]string {
	text, _ := os.ReadFile(file)
	all := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), ":")
		if name = strings.TrimSpace(name); ok && all[name] == "" {
			all[name] = strings.TrimSpace(value)
		}
	}
	return all
}

// fits says whether size bytes of memory are available. fits returns true if the system does not
// say.
func (m Machine) fits(size int) bool { return m.Available == 0 || uint64(size) <= m.Available }

const (
	// replicaBytes is the number of bytes for one parameter in the two models that replay.
	replicaBytes = 2 * 4
	// maxDim is the largest dimension at which the bytes of both models fit in an int.
	maxDim = math.MaxInt / replicaBytes
)

func defaultDim(m Machine) int {
	const usual = 10_000_000
	if m.Available == 0 {
		return usual
	}
	return int(max(1, min(usual, m.Available/4/replicaBytes)))
}

func defaultArray(m Machine) int {
	cache := m.Cache
	if cache == 0 {
		cache = 64 << 20 // larger than most
	}
	most := 1 << 30
	if math.MaxInt == math.MaxInt32 {
		most = 1 << 28 // the address space is 2 to 4 GiB, in pieces
	}
	size := min(max(4*cache, 64<<20), most)
	if m.Available != 0 {
		size = int(min(uint64(size), m.Available/2))
	}
	return max(size, 4)
}
