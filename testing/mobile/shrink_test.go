package mobile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shrink makes a jar of the programs and the bound classes, like a release build of an app:
// what no rule keeps is removed or renamed.
func shrink(t *testing.T, r8 string, rules ...string) string {
	t.Helper()
	javac, err := exec.LookPath("javac")
	if err != nil {
		t.Fatal(err)
	}
	if javac, err = filepath.EvalSymlinks(javac); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	programs, jar := filepath.Join(dir, "programs.jar"), filepath.Join(dir, "app.jar")
	if out, err := exec.Command("jar", "cf", programs, "-C", compiled(t),
		".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	args := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", // for a run of seconds
		"-cp", filepath.Join(r8, "*"), "com.android.tools.r8.R8",
		"--release", "--classfile",
		"--lib", filepath.Join(filepath.Dir(javac), ".."), "--output", jar}
	for _, name := range rules {
		args = append(args, "--pg-conf", filepath.Join("shrink", name))
	}
	args = append(args, programs, filepath.Join(bound(t), "gobind.jar"))
	if out, err := exec.Command("java", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return jar
}

// TestShrunk runs a device that R8 has shrunk. With the rules of the AAR it takes part.
// Without them native code does not find what it calls.
func TestShrunk(t *testing.T) {
	t.Parallel()
	bound(t)
	r8 := os.Getenv("ZOFL_R8")
	if r8 == "" {
		t.Skip("ZOFL_R8 is not set: run what shrink/pom.xml says, and set it to the folder shrink/_jars")
	}
	const rounds = 5
	l := newSite(t).lead(testPlan(t, "shrunk", 100, 1, 1, rounds))
	settings := l.device("shrunk", "block", nil)
	bare := javaOf(t, "Device", shrink(t, r8, "app.pro"), settings)
	<-bare.ended
	if !strings.Contains(bare.err.String(), "UnsatisfiedLinkError") {
		t.Errorf("without rules the device ended with %v and %q, want an UnsatisfiedLinkError",
			bare.cmd.ProcessState, bare.err.String())
	}
	p := javaOf(t, "Device", shrink(t, r8, "app.pro", "aar.pro"), settings)
	end := p.next("end")
	p.done()
	contributed(t, end, rounds)
	l.agree(map[string]line{"shrunk": end}, nil)
}
