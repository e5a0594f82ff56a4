//go:build linux && !race

package libzofl

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/zofl/zofl/plan/preset"
)

// TestProcessors: with ZOFL_QEMU set, the library for other processors runs under qemu, in one run.
// Its devices end with the bits of a replay of the log.
func TestProcessors(t *testing.T) {
	library(t) // or skips
	if os.Getenv("ZOFL_QEMU") == "" {
		t.Skip("set ZOFL_QEMU=1: it compiles the client for two more processors")
	}
	kinds := []struct{ name, tools, emulator string }{
		{"arm64", "aarch64-linux-gnu", "qemu-aarch64-static"},
		{"armv7", "arm-linux-gnueabihf", "qemu-arm-static"},
	}
	p, err := preset.New("zofl", "emulated", 6)
	if err != nil {
		t.Fatal(err)
	}
	n := uint32(len(kinds))
	p.Members, p.Target, p.Quorum, p.Rounds = n, n, n, 20
	s := lead(t, p)
	var all sync.WaitGroup
	lines := make([]string, n)
	for i, k := range kinds {
		dir := t.TempDir()
		run(t, source+"/build.sh", dir, k.name)
		run(t, k.tools+"-gcc", "-std=c99", "-I", dir, "-o", dir+"/device", source+"/examples/device.c",
			dir+"/libzofl.so")
		all.Go(func() {
			lines[i] = run(t, k.emulator, "-L", "/usr/"+k.tools, "-E", "LD_LIBRARY_PATH="+dir,
				dir+"/device", s.broker.URL(), "emulated", k.name, "6")
		})
	}
	all.Wait()
	w := s.replayed("emulated")
	want := fmt.Sprintf("record %d digest %x\n", w.N(), w.Digest())
	for i, line := range lines {
		if !strings.HasSuffix(line, want) {
			t.Errorf("%s printed %q, want %q", kinds[i].name, line, want)
		}
	}
}
