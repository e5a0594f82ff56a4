//go:build linux && !race

package libzofl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan/preset"
)

// TestOneDigest: devices in C, Python, C# and Go train one model, by presets of several kinds,
// while the broker restarts. All end with the bits of a replay of the log.
func TestOneDigest(t *testing.T) {
	dir := library(t)
	inC := compiled(t, source+"/examples/device.c", dir+"/libzofl.so")
	inNet := filepath.Join(t.TempDir(), "Device.exe")
	run(t, "mcs", "-out:"+inNet, source+"/examples/Device.cs")
	t.Setenv("LD_LIBRARY_PATH", dir) // for mono
	const dim = 6
	for name, rounds := range map[string]uint64{"zofl": 40, "zofl-shared": 25, "cma": 20} {
		t.Run(name, func(t *testing.T) {
			p, err := preset.New(name, "mixed", dim)
			if err != nil {
				t.Fatal(err)
			}
			p.Members, p.Target, p.Quorum, p.Rounds = 4, 4, 4, rounds
			s := lead(t, p)
			url, store := s.broker.URL(), t.TempDir()
			var wants sync.WaitGroup
			lines := make([]string, 4)
			for i, args := range [][]string{
				{inC, url, "mixed", "c-1", fmt.Sprint(dim), store},
				{"python3", source + "/examples/device.py", dir + "/libzofl.so", url, "mixed", "py-1",
					fmt.Sprint(dim)},
				{"mono", inNet, url, "mixed", "net-1", fmt.Sprint(dim)},
			} {
				wants.Go(func() { lines[i] = run(t, args[0], args[1:]...) })
			}
			wants.Go(func() { lines[3] = s.inGo("mixed", dim) })
			if name == "zofl" {
				for _, n := range []uint64{5, 20} {
					s.reach(n)
					s.restart(time.Second)
				}
			}
			wants.Wait()
			w := s.replayed("mixed")
			digest := w.Digest()
			for i, line := range lines {
				var losses, n uint64
				var got []byte
				if _, err := fmt.Sscanf(line, "losses %d record %d digest %x", &losses, &n, &got); err != nil ||
					n != w.N() || string(got) != string(digest[:]) || losses == 0 {
					t.Errorf("device %d printed %q, %v; want losses, and digest %x after record %d",
						i, line, err, digest, w.N())
				}
			}
			if files, err := os.ReadDir(store); err != nil || len(files) == 0 {
				t.Errorf("%d files in the store of the device in C, %v", len(files), err)
			}
		})
	}
}

// inGo runs a device with the loss of the examples, and returns their line.
func (s *site) inGo(run string, dim int) string {
	device, err := client.New(client.Config{
		Conn: s.connect("go-1"), Run: run, ID: "go-1",
		Objective: objective.Func(dim, func(_ context.Context, x []float32, _ objective.Batch) (
			float64, error) {
			sum := 0.0
			for i, v := range x {
				e := float64(v) - (1 + 0.1*float64(i))
				sum += e * e
			}
			return sum, nil
		}),
	})
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := device.Run(ctx); err != nil {
		return err.Error()
	}
	n, digest := device.Digest()
	return fmt.Sprintf("losses 1 record %d digest %x", n, digest)
}
