package mobile

import (
	"strings"
	"testing"
)

// TestXcheck lets the JVM check every JNI call of a short run, in both modes. The JVM ends
// the process if a reference or an argument is invalid.
func TestXcheck(t *testing.T) {
	t.Parallel()
	bound(t)
	l := newSite(t).lead(testPlan(t, "xcheck", 100, 2, 2, 5))
	check := []string{"-Xcheck:jni", "-XX:+DisplayVMOutputToStderr"}
	devices := map[string]*program{}
	for _, mode := range []string{"simple", "block"} {
		devices[mode] = java(t, "Device", l.device(mode, mode, nil), check...)
	}
	ends := map[string]line{}
	for mode, p := range devices {
		ends[mode] = p.next("end")
		p.done()
		contributed(t, ends[mode], 5)
		checked(t, mode, p.err.String())
	}
	l.agree(ends, nil)
}

// checked examines the output of -Xcheck:jni. Its warnings that gobind checks for
// exceptions after several calls, instead of after each, show that it was active.
func checked(t *testing.T, mode, said string) {
	t.Helper()
	if !strings.Contains(said, "WARNING in native method") {
		t.Errorf("%s: -Xcheck:jni checked nothing", mode)
	}
	for text := range strings.Lines(said) {
		if strings.Contains(text, "FATAL") || strings.Contains(text, "local refs") {
			t.Errorf("%s: %s", mode, text)
		}
	}
}
