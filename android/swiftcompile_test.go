package android

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A swift is a Swift compiler in a folder that swift.sh made, and the objects that it has compiled.
type swift struct {
	t        *testing.T
	home, in string   // the folder, and that of modules
	objects  []string // theirs
}

func newSwift(t *testing.T) *swift {
	t.Helper()
	home := os.Getenv("ZOFL_SWIFT")
	if home == "" {
		t.Skip("ZOFL_SWIFT is not set: run android/swift.sh, and set it to the folder that it made")
	}
	return &swift{t: t, home: home, in: t.TempDir()}
}

func (s *swift) lib() string { return s.home + "/usr/libexec/swift/lib/swift" }

// run runs a program with the folder's C library, because this machine's may be older, and returns
// the program's output.
func (s *swift) run(program string, args ...string) (string, error) {
	libs := s.home + "/usr/lib/x86_64-linux-gnu:" + s.lib() + "/linux"
	args = append([]string{"--library-path", libs, program}, args...)
	out, err := exec.Command(s.home+"/usr/lib64/ld-linux-x86-64.so.2", args...).CombinedOutput()
	return string(out), err
}

// module compiles a module that other modules can import, and an object. A warning is an error.
func (s *swift) module(name string, sources []string, flags ...string) {
	s.t.Helper()
	made := filepath.Join(s.in, name)
	args := append([]string{"-frontend", "-c", "-module-name", name, "-swift-version", "5",
		"-warnings-as-errors", "-resource-dir", s.lib(), "-I", s.in,
		"-emit-module-path", made + ".swiftmodule", "-o", made + ".o"}, flags...)
	out, err := s.run(s.home+"/usr/libexec/swift/bin/swift-frontend", append(args, sources...)...)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
	s.objects = append(s.objects, made+".o")
}

// link links all objects to a program.
func (s *swift) link() string {
	s.t.Helper()
	program := filepath.Join(s.in, "program")
	args := append([]string{"-o", program, s.lib() + "/linux/x86_64/swiftrt.o"}, s.objects...)
	args = append(args, "-L"+s.lib()+"/linux", "-Wl,--unresolved-symbols=ignore-in-shared-libs",
		"-lXCTest", "-lFoundation", "-lFoundationEssentials", "-ldispatch", "-lswiftDispatch",
		"-lswiftCore", "-lswift_Concurrency", "-lswift_StringProcessing", "-lswiftGlibc",
		"-lswiftSwiftOnoneSupport")
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// compile compiles the package in apple, after change has changed each source.
func (s *swift) compile(change func(text string) string) {
	s.t.Helper()
	header := sourceOf(s.t, swiftFolder+"/Sources/ZoflBridge/include/ZoflBridge.h")
	header = strings.ReplaceAll(header, "\n    ", "") // a function a line
	s.module("ZoflMobile", s.written("ZoflMobile", moduleOf(sourceOf(s.t, golden))),
		"-parse-as-library")
	s.module("ZoflBridge", s.written("ZoflBridge", "import ZoflMobile\n"+moduleOf(header)),
		"-parse-as-library")
	var sources []string
	for _, path := range swiftSources(s.t, swiftFolder+"/Sources/Zofl/*.swift") {
		sources = append(sources, s.written(filepath.Base(path), change(sourceOf(s.t, path)))...)
	}
	s.module("Zofl", sources, "-parse-as-library", "-enable-testing")
	s.module("Kitchen", swiftSources(s.t, swiftFolder+"/Examples/*/*.swift"), "-parse-as-library")
}

// written writes a Swift source that the test supplies.
func (s *swift) written(name, text string) []string {
	path := filepath.Join(s.in, strings.TrimSuffix(name, ".swift")+".swift")
	write(s.t, path, text)
	return []string{path}
}

func swiftSources(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(list), err)
	}
	return list
}

var (
	suite    = regexp.MustCompile(`class (\w+): XCTestCase`)
	testCase = regexp.MustCompile(`func (test\w+)\(\)( async)?`)
)

// mainOf returns a program that runs all tests, as SwiftPM would make it, and the number of tests.
func mainOf(t *testing.T, sources []string) (text string, tests int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("import XCTest\nXCTMain([\n")
	for _, path := range sources {
		source := sourceOf(t, path)
		m := suite.FindStringSubmatch(source)
		if m == nil {
			continue
		}
		b.WriteString("testCase([\n")
		for _, c := range testCase.FindAllStringSubmatch(source, -1) {
			call := m[1] + "." + c[1]
			if c[2] != "" {
				call = "asyncTest(" + call + ")"
			}
			fmt.Fprintf(&b, "(%q, %s),\n", c[1], call)
			tests++
		}
		b.WriteString("]),\n")
	}
	b.WriteString("])\n")
	return b.String(), tests
}

// TestSwiftRuns compiles the package in apple for Linux, and runs its tests.
func TestSwiftRuns(t *testing.T) {
	s := newSwift(t)
	s.compile(func(text string) string { return text })
	sources := swiftSources(t, swiftFolder+"/Tests/*/*.swift")
	text, tests := mainOf(t, sources)
	s.module("ZoflTests", append(s.written("main", text), sources...))
	out, err := s.run(s.link())
	if err != nil || !strings.Contains(out, fmt.Sprintf("Executed %d tests, with 0 failures", tests)) {
		t.Fatalf("%v, want %d tests without a failure\n%s", err, tests, out)
	}
	if tests < 12 {
		t.Errorf("%d tests, want 12: are they found?", tests)
	}
}

// TestSwiftForIOS compiles the whole package, including the code for iOS alone, with declarations
// of Apple's frameworks.
func TestSwiftForIOS(t *testing.T) {
	s := newSwift(t)
	for _, name := range []string{"UIKit", "Network", "BackgroundTasks"} {
		s.module(name, []string{"testdata/ios/" + name + ".swift"}, "-parse-as-library")
	}
	found := 0
	s.compile(func(text string) string {
		found += strings.Count(text, "#if os(iOS)")
		return strings.ReplaceAll(text, "#if os(iOS)", "#if true")
	})
	if found < 2 {
		t.Errorf("%d sources are for iOS alone, want 2", found)
	}
}
