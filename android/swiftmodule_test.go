package android

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zofl/zofl/client/mobile"
)

// Swift cannot import Objective-C on Linux. So the test turns the golden header into a Swift module
// with the declarations that Swift's importer would make. The module's classes have no code: tests
// override the methods that they call.

var (
	propertyLine = regexp.MustCompile(`^@property \(nonatomic\) (.+) (\w+);$`)
	functionLine = regexp.MustCompile(`^FOUNDATION_EXPORT (.+?) ?(Zofl\w+)\((.*)\);$`)
	constantLine = regexp.MustCompile(`^FOUNDATION_EXPORT (.+?) (?:const )?(ZoflMobile\w+);$`)
	argumentText = regexp.MustCompile(`^(.+?) ?\b(\w+)$`)
)

// numbers are the values of constants. The header does not have these values.
var numbers = map[string]int{
	"ZoflMobileStateIdle": mobile.StateIdle, "ZoflMobileStateOffline": mobile.StateOffline,
	"ZoflMobileStateJoining": mobile.StateJoining, "ZoflMobileStateCatchingUp": mobile.StateCatchingUp,
	"ZoflMobileStateWaiting": mobile.StateWaiting, "ZoflMobileStateWorking": mobile.StateWorking,
	"ZoflMobileStatePaused": mobile.StatePaused, "ZoflMobileStateEnded": mobile.StateEnded,
	"ZoflMobileStateStopped": mobile.StateStopped, "ZoflMobileMaxBlock": mobile.MaxBlock,
}

// unused is the body of the module's methods.
const unused = `fatalError("the framework is not here")`

// imported returns the Swift type that Swift's importer makes of an Objective-C type, without
// nullability if the header has none.
func imported(kind string) string {
	kind = strings.TrimSpace(strings.ReplaceAll(kind, " *", "* "))
	kind, optional := strings.CutSuffix(strings.Join(strings.Fields(kind), " "), " _Nullable")
	kind = strings.TrimSuffix(strings.TrimSuffix(kind, " _Nonnull const"), " _Nonnull")
	kind = strings.TrimSuffix(kind, "const ")
	mark := map[bool]string{true: "?"}[optional]
	switch kind {
	case "void":
		return "Void"
	case "long":
		return "Int"
	case "int64_t", "const int64_t":
		return "Int64"
	case "double":
		return "Double"
	case "BOOL":
		return "Bool"
	case "NSString*":
		return "String" + mark
	case "NSData*":
		return "Data" + mark
	case "NSError* _Nullable*": // Linux has no AutoreleasingUnsafeMutablePointer
		return "UnsafeMutablePointer<NSError?>?"
	case "NSError*":
		return "Error" + mark
	}
	if protocol, ok := strings.CutPrefix(kind, "id<"); ok {
		return "(any " + strings.TrimSuffix(protocol, ">") + "Protocol)" + mark
	}
	name, pointer := strings.CutSuffix(kind, "*")
	if name = strings.TrimSpace(name); !pointer {
		panic("a type that has no name in Swift here: " + kind)
	}
	if strings.HasPrefix(name, "Zofl") || name == "NSMutableData" {
		return name + mark
	}
	return "UnsafeMutablePointer<" + imported(name) + ">" + mark
}

// moduleOf returns the Swift module of a header.
func moduleOf(header string) string {
	var b strings.Builder
	b.WriteString("import Foundation\n")
	inside := "" // the keywords of a method
	for line := range strings.Lines(header) {
		line = strings.TrimSpace(line)
		switch {
		case opening.MatchString(line):
			m := opening.FindStringSubmatch(line)
			if inside = ""; m[1] == "protocol" {
				fmt.Fprintf(&b, "public protocol %sProtocol: NSObjectProtocol {\n", m[2])
			} else if !strings.Contains(line, ", ") { // a class of its own, not a protocol's
				inside = "open "
				fmt.Fprintf(&b, "open class %s: NSObject {\npublic override init() {}\n", m[2])
			} else {
				inside = "skip"
			}
		case line == "@end":
			if inside != "skip" {
				b.WriteString("}\n")
			}
		case inside == "skip" || strings.Contains(line, "instancetype"):
		case propertyLine.MatchString(line):
			m := propertyLine.FindStringSubmatch(line)
			kind := imported(m[1])
			zero := map[string]string{"String": `""`, "Bool": "false"}[kind]
			if zero == "" {
				zero = "0"
			}
			fmt.Fprintf(&b, "open var %s: %s = %s\n", m[2], kind, zero)
		case method.MatchString(line):
			b.WriteString(declareMethod(inside, method.FindStringSubmatch(line)))
		default:
			b.WriteString(declareSymbol(line))
		}
	}
	return b.String()
}

// declareMethod declares a method, with a body in a class. If the method's Swift name is not
// certain, declareMethod declares nothing.
func declareMethod(inside string, m []string) string {
	pieces := piece.FindAllStringSubmatch(m[3], -1)
	if len(pieces) > 0 && unsure.MatchString(m[2]) {
		return ""
	}
	var params []string
	throws := false
	for i, p := range pieces {
		if strings.HasPrefix(p[2], "NSError*") {
			throws = true
			continue
		}
		label := p[1]
		if i == 0 {
			label = "_"
		}
		params = append(params, fmt.Sprintf("%s p%d: %s", label, i, imported(p[2])))
	}
	result := imported(m[1])
	text := fmt.Sprintf("%sfunc `%s`(%s)", inside, m[2], strings.Join(params, ", "))
	if throws {
		text += " throws"
		result = map[bool]string{true: "Void", false: strings.TrimSuffix(result, "?")}[result == "Bool"]
	}
	text += " -> " + result
	if inside != "" {
		text += " { " + unused + " }"
	}
	return text + "\n"
}

// declareSymbol declares a function or a constant.
func declareSymbol(line string) string {
	if m := constantLine.FindStringSubmatch(line); m != nil {
		kind, value := imported(m[1]), fmt.Sprintf("%q", m[2])
		if kind == "Int64" {
			value = fmt.Sprint(numbers[m[2]])
		} else if code, ok := strings.CutPrefix(m[2], "ZoflMobileCode"); ok {
			value = fmt.Sprintf("%q", strings.ToLower(code))
		}
		return fmt.Sprintf("public let %s: %s = %s\n", m[2], kind, value)
	}
	m := functionLine.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	var params []string
	for i, a := range strings.Split(m[3], ",") {
		if a == "void" {
			break
		}
		kind := argumentText.FindStringSubmatch(strings.TrimSpace(a))[1]
		params = append(params, fmt.Sprintf("_ p%d: %s", i, imported(kind)))
	}
	list := strings.Join(params, ", ")
	if m[2] == "ZoflMobileErrorCode" { // as in Go: what is before ": "
		return "public func ZoflMobileErrorCode(" + list + ") -> String {\n" +
			"guard let at = p0?.range(of: \": \") else { return \"\" }\n" +
			"return String(p0![..<at.lowerBound])\n}\n"
	}
	return fmt.Sprintf("public func %s(%s) -> %s { %s }\n", m[2], list, imported(m[1]), unused)
}
