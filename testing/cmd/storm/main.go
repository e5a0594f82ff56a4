// Command storm kills a whole fleet at once, and says how long it takes to come back: `zofl serve`
// as a process, and its devices as clients of this process, each with a connection of its own. It
// prints percentiles, in seconds since everything was killed. It is a tool to find what a fleet
// waits for, and no test: the times depend on the machine.
//
//	go -C testing run ./cmd/storm -devices 1000 -away 5s
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A storm is a run whose fleet is killed.
type storm struct {
	devices  int
	away     time.Duration // of serve
	stateful bool
	within   time.Duration

	dir, program, address string
}

func main() {
	s := storm{}
	flag.IntVar(&s.devices, "devices", 1000, "devices")
	flag.DurationVar(&s.away, "away", 5*time.Second, "how long serve is away after the devices start")
	flag.BoolVar(&s.stateful, "stateful", true, "devices keep a checkpoint")
	flag.DurationVar(&s.within, "within", 3*time.Minute, "give up after this long")
	rounds := flag.Int("rounds", 10, "rounds before everything is killed")
	flag.StringVar(&s.program, "zofl", "", "the program; default: build it")
	flag.Parse()
	if err := s.run(*rounds); err != nil {
		fmt.Fprintln(os.Stderr, "storm:", err)
		os.Exit(1)
	}
}

// run makes the run, kills everything after some rounds, and prints how it came back.
func (s *storm) run(rounds int) (err error) {
	if s.dir, err = os.MkdirTemp("", "storm"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	if s.program == "" {
		s.program = filepath.Join(s.dir, "zofl")
		build := exec.Command("go", "build", "-o", s.program, ".")
		build.Dir = filepath.Join("..", "coordinator", "zofl") // of testing, where the tool runs
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.address = free.Addr().String()
	free.Close()
	if err := s.plan(); err != nil {
		return err
	}
	serve, err := s.serve()
	if err != nil {
		return err
	}
	fleet := newFleet(s)
	fleet.start()
	began := time.Now()
	if err := fleet.until(s.within, func() bool { return fleet.rounds() >= rounds }); err != nil {
		return fmt.Errorf("before the storm: %w", err)
	}
	fmt.Printf("%d rounds in %.1f s\n", rounds, time.Since(began).Seconds())
	serve.kill()
	fleet.kill()
	struck := time.Now()
	fleet = newFleet(s)
	fleet.start()
	time.Sleep(s.away)
	if serve, err = s.serve(); err != nil {
		return err
	}
	defer serve.kill()
	fmt.Printf("serve leads after %.1f s\n", time.Since(struck).Seconds())
	err = fleet.until(s.within, func() bool { return fleet.contributing() == s.devices })
	for _, m := range milestones {
		print(m.String(), fleet.since(m, struck), s.devices)
	}
	fleet.kill()
	return err
}

// plan writes the plan of the run.
func (s *storm) plan() error {
	out, err := exec.Command(s.program, "plan", "--preset", "decomfl", "--run", "storm",
		"--dim", "132", "--set", fmt.Sprintf("members=%d", s.devices),
		"--set", fmt.Sprintf("target=%d", s.devices),
		"--set", fmt.Sprintf("quorum=%d", s.devices/2), "--set", "over_sample=1",
		"--set", "deadline=20000", "--set", "rounds=1000000", "--set", "mu=0.01",
		"--set", "step=0.001", "--write", filepath.Join(s.dir, "plan.json")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("plan: %w: %s", err, out)
	}
	return nil
}

// print prints percentiles of a milestone.
func print(name string, seconds []float64, devices int) {
	slices.Sort(seconds)
	at := func(share float64) string {
		if i := int(share * float64(devices-1)); i < len(seconds) {
			return fmt.Sprintf("%6.1f", seconds[i])
		}
		return " never"
	}
	fmt.Printf("%-12s %4d devices: p50 %s, p90 %s, p99 %s, all %s s\n", name, len(seconds), at(0.5),
		at(0.9), at(0.99), at(1))
}

// A process is a running `zofl serve`.
type process struct {
	cmd *exec.Cmd
}

// serve starts the coordinator, and returns when its broker takes connections.
func (s *storm) serve() (*process, error) {
	cmd := exec.CommandContext(context.Background(), s.program, "serve",
		filepath.Join(s.dir, "plan.json"), "--store", filepath.Join(s.dir, "log"), "--listen", s.address,
		"--quiet")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd}
	for range 600 {
		if c, err := net.Dial("tcp", s.address); err == nil {
			c.Close()
			return p, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.kill()
	return nil, fmt.Errorf("serve does not listen at %s", s.address)
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
