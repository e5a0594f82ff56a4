package mobile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPiAndPhone runs a Raspberry Pi Zero, emulated by qemu, and a Java program as the
// devices of one run. They end with the same bits. It needs ZOFL_QEMU.
func TestPiAndPhone(t *testing.T) {
	t.Parallel()
	bound(t)
	if os.Getenv("ZOFL_QEMU") == "" {
		t.Skip("ZOFL_QEMU is not set: install qemu-user-static, and set it to 1")
	}
	const rounds = 10
	binary := filepath.Join(t.TempDir(), "device")
	build := exec.Command("go", "build", "-o", binary, "../cmd/device")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm", "GOARM=6")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l := newOpenSite(t).lead(testPlan(t, "pi", dim, 2, 2, rounds))
	pi := start(t, "device", exec.Command("qemu-arm-static", "-cpu", "arm1176", binary,
		"-url", l.site.url, "-run", l.run, "-id", "pi", "-dim", fmt.Sprint(dim), "-within",
		patience.String()))
	phone := java(t, "Device", l.device("phone", "block", nil))
	ends := map[string]line{"pi": pi.find("arch", func(v line) bool { return v["arch"] != nil }),
		"phone": phone.next("end")}
	pi.done()
	phone.done()
	l.agree(ends, nil)
	for _, end := range ends {
		contributed(t, end, rounds)
	}
	if ends["pi"]["arch"] != "arm" {
		t.Errorf("the Pi ended with %v, want architecture arm", ends["pi"])
	}
}
