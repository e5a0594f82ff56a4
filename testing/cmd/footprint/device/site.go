package main

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"github.com/zofl/zofl/testing/cmd/footprint/mark"
)

// most is the number of functions that are listed.
const most = 20

// allocations starts to count at its first call. Later calls return each function's
// allocations since then, the most first.
func (m *marker) allocations() []mark.Site {
	if m.before == nil {
		m.before = map[string]mark.Site{}
		runtime.MemProfileRate = 1
		return nil
	}
	runtime.GC()
	runtime.GC() // the profile is two collections old
	records := make([]runtime.MemProfileRecord, 10_000)
	n, _ := runtime.MemProfile(records, true)
	sums := map[string]mark.Site{}
	for i := range records[:n] {
		r := &records[i]
		name := function(r.Stack())
		s := sums[name]
		sums[name] = mark.Site{Function: name, Mallocs: s.Mallocs + float64(r.AllocObjects),
			Bytes: s.Bytes + float64(r.AllocBytes)}
	}
	var list []mark.Site
	for _, s := range sums {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b mark.Site) int {
		return cmp.Or(cmp.Compare(b.Mallocs, a.Mallocs), cmp.Compare(a.Function, b.Function))
	})
	return list[:min(len(list), most)]
}

// function returns the function that allocated, and the module's package that called it.
func function(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	name := ""
	for {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, "runtime."):
		case name == "":
			name = frame.Function
		}
		if strings.HasPrefix(frame.Function, "github.com/") {
			if frame.Function != name {
				name += " of " + frame.Function
			}
			return name
		}
		if !more {
			return name
		}
	}
}
