package android

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// swiftFolder has the package for Apple's systems. TestSwiftRuns compiles it where Swift is.
const swiftFolder = "../apple"

var (
	comment  = regexp.MustCompile(`(?m)//.*$`)
	typed    = regexp.MustCompile(`(\w+): (ZoflMobile\w+)\b`)
	symbol   = regexp.MustCompile(`\bZofl\w+\b\(?`)
	conforms = regexp.MustCompile(`class \w+: NSObject, (ZoflMobile\w+)`)
	label    = regexp.MustCompile(`^\s*(\w+):`)
	message  = regexp.MustCompile(`\[(\w+) ([^\]]+)\]`)
	receiver = regexp.MustCompile(`(ZoflMobile\w+) \*(\w+)`)
	keyword  = regexp.MustCompile(`(\w+):`)
	ours     = regexp.MustCompile(`(?m)^(?:public )?enum (Zofl\w+)`)
	bridged  = regexp.MustCompile(`(?s)FOUNDATION_EXPORT [^;]*?(Zofl\w+)\(([^)]*)\);`)
)

// A checker compares Swift sources with the golden header, and counts the comparisons.
type checker struct {
	face
	own                     map[string]bool // names of modules and types of the package
	faults                  []string
	calls, classes, symbols int
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// swift checks a source. In a source, a name must have only one type of the framework, and a
// variable for a result of the framework must be declared with its type.
func (c *checker) swift(text string) {
	text = comment.ReplaceAllString(text, "")
	c.names(text)
	kinds := map[string]string{}
	for _, m := range typed.FindAllStringSubmatch(text, -1) {
		if _, constant := c.face.symbols[m[2]]; constant {
			continue // an argument
		}
		if before := kinds[m[1]]; before != "" && before != m[2] {
			c.fault("%s is a %s and a %s: give it two names", m[1], before, m[2])
		}
		kinds[m[1]] = m[2]
	}
	for name, kind := range kinds {
		c.uses(text, name, kind)
	}
	for _, m := range conforms.FindAllStringSubmatchIndex(text, -1) {
		body, _, _ := strings.Cut(text[m[0]:], "\n}")
		c.conformance(text[m[2]:m[3]], body)
	}
}

// names checks the types, constants and functions of the framework that a source names.
func (c *checker) names(text string) {
	for _, at := range symbol.FindAllStringIndex(text, -1) {
		name, called := strings.CutSuffix(text[at[0]:at[1]], "(")
		c.symbols++
		want, known := c.face.symbols[name]
		switch {
		case c.own[name] || c.types[name] != nil:
		case !known:
			c.fault("%s is not in the header", name)
		case called != (want >= 0):
			c.fault("%s: called %v, and it has %d arguments", name, called, want)
		case called && len(argumentsAt(text, at[1])) != want:
			c.fault("%s: %q, want %d arguments", name, argumentsAt(text, at[1]), want)
		}
		if called && strings.HasPrefix(name, "ZoflMobileNew") {
			c.annotated(text, at[0], name)
		}
	}
}

// uses checks the calls on a variable whose type is a class of the framework.
func (c *checker) uses(text, name, kind string) {
	of := c.types[kind]
	if of == nil {
		c.fault("%s: %s is not in the header", name, kind)
		return
	}
	calls := regexp.MustCompile(`\b` + name + `[?!]?\.(\w+)\(?`)
	for _, at := range calls.FindAllStringSubmatchIndex(text, -1) {
		used := text[at[2]:at[3]]
		if text[at[1]-1] == '(' {
			used += "("
			for _, a := range argumentsAt(text, at[1]) {
				used += labelOf(a) + ":"
			}
			used += ")"
		}
		m, ok := of.members[used]
		if !ok {
			c.fault("%s.%s: the header's %s has no such member", name, used, kind)
		}
		if strings.HasPrefix(m.result, "ZoflMobile") {
			c.annotated(text, at[0], used)
		}
		c.calls++
	}
}

// annotated checks that the line at position at declares the type of its variable.
func (c *checker) annotated(text string, at int, name string) {
	line, _, _ := strings.Cut(text[strings.LastIndex(text[:at], "\n")+1:], "\n")
	if !typed.MatchString(line) {
		c.fault("%s: declare the type of the result, so that its calls can be checked", name)
	}
}

// conformance checks that a class has all methods of its protocol, with the right types.
func (c *checker) conformance(protocol, body string) {
	of := c.types[protocol]
	if of == nil {
		c.fault("%s is not in the header", protocol)
		return
	}
	for name, m := range of.members {
		if !m.declared().MatchString(body) {
			c.fault("%s.%s: want a method like %s", protocol, name, m.declared())
		}
	}
	c.classes++
}

// objective checks the messages in an Objective-C source.
func (c *checker) objective(text string) {
	for function := range strings.SplitSeq(text, "\n}") {
		kinds := map[string]string{}
		for _, m := range receiver.FindAllStringSubmatch(function, -1) {
			kinds[m[2]] = m[1]
		}
		for _, m := range message.FindAllStringSubmatch(function, -1) {
			selector := ""
			for _, k := range keyword.FindAllStringSubmatch(m[2], -1) {
				selector += k[1] + ":"
			}
			of := c.types[kinds[m[1]]]
			if of == nil || !of.selectors[selector] {
				c.fault("[%s %s]: the header's %q has no such method", m[1], selector, kinds[m[1]])
			}
			c.calls++
		}
	}
}

// argumentsAt returns the arguments of a call whose parenthesis opens before position at.
func argumentsAt(text string, at int) (list []string) {
	depth, from := 0, at
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth < 0 || depth == 0 && text[i] == ',' {
			if strings.TrimSpace(text[from:i]) != "" {
				list = append(list, text[from:i])
			}
			from = i + 1
		}
		if depth < 0 {
			break
		}
	}
	return list
}

func labelOf(argument string) string {
	if m := label.FindStringSubmatch(argument); m != nil {
		return m[1]
	}
	return "_"
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	c := &checker{face: readFace(t), own: map[string]bool{"ZoflMobile": true, "ZoflBridge": true}}
	header := sourceOf(t, filepath.Join(swiftFolder, "Sources/ZoflBridge/include/ZoflBridge.h"))
	for _, m := range bridged.FindAllStringSubmatch(header, -1) {
		c.face.symbols[m[1]] = arguments("", m[2])
	}
	errors := sourceOf(t, filepath.Join(swiftFolder, "Sources/Zofl/ZoflError.swift"))
	for _, m := range ours.FindAllStringSubmatch(errors, -1) {
		c.own[m[1]] = true
	}
	return c
}

func sourceOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSwift checks that the golden header has every symbol, method and label of the framework that
// package apple uses, and that package apple knows every code and state of the header.
func TestSwift(t *testing.T) {
	c := newChecker(t)
	sources, err := filepath.Glob(swiftFolder + "/*/*/*.swift")
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, path := range sources {
		text := sourceOf(t, path)
		before := len(c.faults)
		c.swift(text)
		for _, fault := range c.faults[before:] {
			t.Errorf("%s: %s", path, fault)
		}
		all += text
	}
	before := len(c.faults)
	c.objective(sourceOf(t, filepath.Join(swiftFolder, "Sources/ZoflBridge/ZoflBridge.m")))
	for _, fault := range c.faults[before:] {
		t.Errorf("ZoflBridge.m: %s", fault)
	}
	for name, n := range c.face.symbols {
		if n < 0 && name != "ZoflMobileMaxBlock" && !regexp.MustCompile(name+`\b`).MatchString(all) {
			t.Errorf("%s of the header is not named in %s", name, swiftFolder)
		}
	}
	if c.calls < 80 || c.classes != 6 || c.symbols < 80 {
		t.Errorf("compared %d calls, %d classes, %d symbols, want at least 80, 6, 80",
			c.calls, c.classes, c.symbols)
	}
}

// TestSwiftFaults checks that the checker finds a wrong name, label, number or type.
func TestSwiftFaults(t *testing.T) {
	for source, want := range map[string]int{
		"let r: ZoflMobileRound\nr.block(0, count: 4); r.dim(); _ = ZoflMobileCodeDim": 0,
		"let c: ZoflMobileConfig\nc.minBattery = 3; try c.addPin(pin)":                 0,
		"let c: ZoflMobileClient? = ZoflMobileNewClient(native, &error)":               0,

		"let r: ZoflMobileRound\nr.blok(0, count: 4)":           1, // a name
		"let r: ZoflMobileRound\nr.block(0, size: 4)":           1, // a label
		"let r: ZoflMobileRound\nr.block(0)":                    1, // a number of arguments
		"let r: ZoflMobileRound\nr.dim":                         1, // a method, not a property
		"let c: ZoflMobileClient\nc.run(for: 3)":                1, // a name that is not sure
		"let c: ZoflMobileClient\nlet p = c.plan()":             1, // a type that is not declared
		"let c: ZoflMobileClient? = ZoflMobileNewClient(n)":     1,
		"let x: ZoflMobileRond":                                 2, // as symbol and as type
		"_ = ZoflMobileCodeDimm":                                1,
		"let a: ZoflMobileRound, b: A\nlet a: ZoflMobileConfig": 1,
		"class L: NSObject, ZoflMobileConsentProtocol {\n" +
			"func accept(_ plan: ZoflMobilePlan) throws {\n}\n}": 1, // a type
		"class L: NSObject, ZoflMobileConsentProtocol {\n" +
			"func accept(plan: ZoflMobilePlan?) throws {\n}\n}": 1, // a label
	} {
		c := newChecker(t)
		c.swift(source)
		if len(c.faults) != want {
			t.Errorf("%s\nhas the faults %q, want %d", source, c.faults, want)
		}
	}
	c := newChecker(t)
	c.objective("void f(ZoflMobileRound *r) {\n[r readParams:0 dist:d n:n error:&e];\n}")
	if len(c.faults) != 1 {
		t.Errorf("a wrong selector has the faults %q, want 1", c.faults)
	}
}
