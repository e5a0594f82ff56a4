package android

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A face is the API that Swift and Objective-C find in the golden header.
type face struct {
	types   map[string]*class // by the name in Swift; a protocol's name ends in Protocol
	symbols map[string]int    // functions and their number of arguments; -1 for a constant
}

// A class has the declarations of an interface or a protocol.
type class struct {
	members   map[string]member // by the name in Swift: "block(_:count:)", "dim()", "minBattery"
	selectors map[string]bool   // "block:count:"
}

type member struct {
	base   string
	params []param
	result string // its type in Objective-C
	throws bool
}

type param struct{ label, kind string } // "_" for none, and the type in Objective-C

var (
	opening  = regexp.MustCompile(`^@(interface|protocol) (ZoflMobile\w+) [:<]`)
	method   = regexp.MustCompile(`^- \(([^)]+)\)(\w+)(.*);$`)
	piece    = regexp.MustCompile(`(\w*):\(([^)]+)\)\w+`)
	property = regexp.MustCompile(`^@property \(nonatomic\) .*\b(\w+);$`)
	exported = regexp.MustCompile(`^FOUNDATION_EXPORT .*?(ZoflMobile\w+)(;|\((.*)\);)$`)

	// Swift makes an argument label of a preposition at the end of a name; the rule differs by Swift
	// version.
	unsure = regexp.MustCompile(`[a-z](For|With|To|From|In|At|By|Of|On|Named)$`)
)

func readFace(t *testing.T) face {
	t.Helper()
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	f := face{map[string]*class{}, map[string]int{}}
	var in *class
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if m := opening.FindStringSubmatch(line); m != nil {
			in = &class{map[string]member{}, map[string]bool{}}
			f.types[m[2]+map[string]string{"protocol": "Protocol"}[m[1]]] = in
		} else if m := exported.FindStringSubmatch(line); m != nil {
			f.symbols[m[1]] = arguments(m[2], m[3])
		} else if m := property.FindStringSubmatch(line); m != nil {
			in.members[m[1]] = member{}
		} else if m := method.FindStringSubmatch(line); m != nil {
			in.add(m[1], m[2], m[3])
		}
	}
	return f
}

// arguments counts the arguments of a C function; -1 for a constant.
func arguments(end, list string) int {
	switch {
	case end == ";":
		return -1
	case list == "void":
		return 0
	}
	return strings.Count(list, ",") + 1
}

// add adds a method, given its result, the first part of its name, and the rest of the line.
func (c *class) add(result, base, rest string) {
	m := member{base: base, result: result}
	selector := base
	for i, p := range piece.FindAllStringSubmatch(rest, -1) {
		selector += p[1] + ":"
		if strings.HasPrefix(p[2], "NSError*") {
			m.throws = true
			continue
		}
		label := p[1]
		if i == 0 {
			label = "_"
		}
		m.params = append(m.params, param{label, p[2]})
	}
	c.selectors[selector] = true
	if len(m.params) == 0 || !unsure.MatchString(base) {
		c.members[m.name()] = m
	}
}

// name is the method's name in Swift.
func (m member) name() string {
	name := m.base + "("
	for _, p := range m.params {
		name += p.label + ":"
	}
	return name + ")"
}

// inSwift has the Swift types of the parameters that Swift code has to declare.
var inSwift = map[string]string{
	"long": "Int", "int64_t": "Int64", "double": "Double", "BOOL": "Bool",
	"NSString* _Nullable": "String?", "NSData* _Nullable": "Data?",
	"double* _Nullable": "UnsafeMutablePointer<Double>?",
}

// declared matches the method's declaration in a Swift class.
func (m member) declared() *regexp.Regexp {
	var params []string
	for _, p := range m.params {
		kind, ok := inSwift[p.kind]
		if !ok { // a class
			kind = strings.TrimSuffix(p.kind, "* _Nullable") + "?"
		}
		label := map[bool]string{true: `_ \w+`, false: p.label}[p.label == "_"]
		params = append(params, label+`: `+regexp.QuoteMeta(kind))
	}
	list := strings.Join(params, `,\s*`)
	throws := map[bool]string{true: ` throws \{`, false: ` \{`}[m.throws]
	return regexp.MustCompile(`func ` + m.base + `\(\s*` + list + `\s*\)` + throws)
}
