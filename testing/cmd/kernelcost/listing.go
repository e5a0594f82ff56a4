package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A function is the part of a listing between the function's header and the next header.
type function struct {
	size int
	list []instruction
	code []byte
}

// An instruction is a line of the listing. A line may stand for no machine instruction, or for
// several.
type instruction struct {
	pc       int
	name     string
	operands string
}

var (
	header  = regexp.MustCompile(`^(\S.*?) STEXT .*\bsize=(\d+)`)
	line    = regexp.MustCompile(`^\t0x[0-9a-f]+ (\d+) \(.*?\)\t(\S+)\t?(.*)$`)
	hexDump = regexp.MustCompile(`^\t0x[0-9a-f]+((?: [0-9a-f]{2})+)  `)
)

// parse returns the functions of a listing by name.
func parse(text string) (map[string]*function, error) {
	functions := map[string]*function{}
	current := new(function) // of lines before the first header
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if m := header.FindStringSubmatch(l); m != nil {
			size, err := strconv.Atoi(m[2])
			if err != nil {
				return nil, fmt.Errorf("listing: size of %s: %w", m[1], err)
			}
			current = &function{size: size}
			functions[m[1]] = current
		} else if m := line.FindStringSubmatch(l); m != nil {
			pc, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, fmt.Errorf("listing: %q: %w", l, err)
			}
			current.list = append(current.list, instruction{pc, m[2], strings.TrimSpace(m[3])})
		} else if m := hexDump.FindStringSubmatch(l); m != nil {
			for _, b := range strings.Fields(m[1]) {
				v, err := strconv.ParseUint(b, 16, 8)
				if err != nil {
					return nil, fmt.Errorf("listing: %q: %w", l, err)
				}
				current.code = append(current.code, byte(v))
			}
		}
	}
	return functions, nil
}

// A span is the range of addresses from low to below high.
type span struct{ low, high int }

// hotLoop finds the function's only innermost loop that stores floats. hotLoop returns how many
// instructions the loop has, and how many floats the loop stores.
func (f *function) hotLoop(size sizer) (n, stores int, err error) {
	if f == nil {
		return 0, 0, errors.New("the listing has no such function: see the table of kernels")
	}
	for _, s := range f.innermost() {
		floats := f.stores(s)
		if floats == 0 {
			continue
		}
		if stores > 0 {
			return 0, 0, errors.New("more than one loop stores floats")
		}
		if f.calls(s) {
			return 0, 0, errors.New("the loop calls a function, whose instructions would be missed")
		}
		stores, n = floats, size(f, s)
	}
	if stores == 0 {
		return 0, 0, errors.New("no loop stores floats")
	}
	return n, stores, nil
}

// innermost returns the loops that contain no other loop. A loop is what a backward branch spans.
func (f *function) innermost() []span {
	var all, inner []span
	for i, in := range f.list {
		if to, ok := in.target(); ok && to < in.pc {
			all = append(all, span{to, f.end(i)})
		}
	}
	for i, s := range all {
		contains := false
		for j, o := range all {
			contains = contains || i != j && s.low <= o.low && o.high <= s.high
		}
		if !contains {
			inner = append(inner, s)
		}
	}
	return inner
}

// end returns the address after an instruction.
func (f *function) end(i int) int {
	if i+1 < len(f.list) {
		return f.list[i+1].pc
	}
	return f.size
}

var (
	absolute = regexp.MustCompile(`(?:^|, )(\d+)$`)
	relative = regexp.MustCompile(`(?:^|, )\$(-?\d+)$`)
	relates  = regexp.MustCompile(`^(B[A-Z]+|JMP)$`)
)

// target returns the target of a branch: most listings show an address, a riscv64 listing shows a
// distance.
func (in instruction) target() (to int, ok bool) {
	m, from := absolute.FindStringSubmatch(in.operands), 0
	if m == nil && relates.MatchString(in.name) {
		m, from = relative.FindStringSubmatch(in.operands), in.pc
	}
	if m == nil || in.name == "PCDATA" || in.name == "FUNCDATA" {
		return 0, false
	}
	to, err := strconv.Atoi(m[1])
	return from + to, err == nil
}

// calls reports whether a loop calls a function.
func (f *function) calls(s span) bool {
	return slices.ContainsFunc(f.list, func(in instruction) bool {
		return s.low <= in.pc && in.pc < s.high && (in.name == "CALL" || in.name == "JAL")
	})
}

var (
	floatStore = regexp.MustCompile(`^(?:MOVF|FMOVS|MOVSS)\t[FX]\d+, [^F]*\(`)
	pairStore  = regexp.MustCompile(`^FSTPS\t`)
	onStack    = regexp.MustCompile(`\((?:SP|RSP|R13)\)`)
)

// stores returns how many floats a loop stores outside the stack.
func (f *function) stores(s span) int {
	n := 0
	for _, in := range f.list {
		text := in.name + "\t" + in.operands
		if in.pc < s.low || in.pc >= s.high || onStack.MatchString(text) {
			continue
		}
		if floatStore.MatchString(text) {
			n++
		} else if pairStore.MatchString(text) {
			n += 2
		}
	}
	return n
}

// A sizer counts the machine's instructions in a part of a function.
type sizer func(f *function, s span) int

// fixed counts instructions that have four bytes each, for arm and arm64.
func fixed(_ *function, s span) int { return (s.high - s.low) / 4 }

// compressed counts riscv64 instructions. Their lowest bits say whether an instruction has two or
// four bytes.
func compressed(f *function, s span) int {
	n := 0
	for pc := s.low; pc < s.high; n++ {
		if f.code[pc]&3 == 3 {
			pc += 4
		} else {
			pc += 2
		}
	}
	return n
}

// listed counts the lines that have bytes, for x86, where a line is at most one instruction.
func listed(f *function, s span) int {
	n := 0
	for i, in := range f.list {
		if s.low <= in.pc && in.pc < s.high && f.end(i) > in.pc {
			n++
		}
	}
	return n
}
