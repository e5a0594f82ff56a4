//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/mobile"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/bowl"
)

// Figures of a device.
type figures struct {
	disk int64 // bytes of the files
	idle usage // while it waits for another device
	work usage
	loss float64 // microseconds of CPU for each loss, directions, replay and frames included
}

// A usage is what a process and its children use.
type usage struct {
	resident int64 // bytes
	threads  int
	cpu      time.Duration
}

const (
	patience = 5 * time.Minute
	// settle is how long a device waits before it is measured: garbage is collected meanwhile.
	settle = 3 * time.Second
	// warm is the number of rounds before measuring begins.
	warm = 100
	// losses are those of a round: at the model, and along ten directions.
	losses = 11
)

// measure measures a device in a run with another one, which joins later. Until then the device
// idles.
func measure(d *device, rounds uint64) (f figures, err error) {
	for _, name := range d.files {
		info, err := os.Stat(name)
		if err != nil {
			return f, err
		}
		f.disk += info.Size()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	b, err := broker.Run(broker.Config{})
	if err != nil {
		return f, err
	}
	defer b.Shutdown()
	var log runlog.Memory
	ended, err := lead(ctx, b.URL(), &log, warm+rounds+warm)
	if err != nil {
		return f, err
	}
	defer ended.Wait()
	defer cancel()
	args := d.args(b.URL(), "doors", "measured")
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), d.env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return f, err
	}
	defer cmd.Wait()
	defer cancel()
	if err := joined(ctx, &log); err != nil {
		return f, fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	time.Sleep(settle)
	if f.idle, err = used(cmd.Process.Pid); err != nil {
		return f, fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	var other sync.WaitGroup
	defer other.Wait()
	other.Go(func() { company(ctx, b.URL()) })
	if err := reach(ctx, &log, warm); err != nil {
		return f, fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	from, err := used(cmd.Process.Pid)
	if err != nil {
		return f, err
	}
	begun := log.Last()
	if err := reach(ctx, &log, warm+rounds); err != nil {
		return f, fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	if f.work, err = used(cmd.Process.Pid); err != nil {
		return f, err
	}
	f.loss = float64((f.work.cpu - from.cpu).Microseconds()) / float64((log.Last()-begun)*losses)
	return f, nil
}

// lead starts a coordinator of a run for two devices.
func lead(ctx context.Context, url string, log *runlog.Memory, rounds uint64) (
	*sync.WaitGroup, error,
) {
	p, err := preset.Unbound("decomfl", "doors", dim)
	if err != nil {
		return nil, err
	}
	p.Members, p.Target, p.Quorum, p.Rounds = 2, 2, 2, rounds
	p.Steps, p.Perturbations, p.StepSize = 1, losses-1, 1e-9 // the devices' losses differ in scale
	nc, err := nats.Connect(url)
	if err != nil {
		return nil, err
	}
	c, err := coordinator.New(ctx, coordinator.Config{Conn: nc, Plan: p, Log: log})
	if err != nil {
		return nil, err
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		defer nc.Close()
		if err := c.Run(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "coordinator:", err)
		}
	})
	return &ended, nil
}

// joined waits until the measured device is a member.
func joined(ctx context.Context, log *runlog.Memory) error {
	return until(ctx, "the device joins", func() bool {
		ids, err := log.Members()
		return err == nil && len(ids) > 0
	})
}

// reach waits until the log has a record.
func reach(ctx context.Context, log *runlog.Memory, n uint64) error {
	return until(ctx, fmt.Sprintf("record %d", n), func() bool { return log.Last() >= n })
}

func until(ctx context.Context, what string, is func() bool) error {
	for !is() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// company is the other device.
func company(ctx context.Context, url string) {
	nc, err := nats.Connect(url, client.ConnectOptions("other")...)
	if err == nil {
		defer nc.Close()
		var c *client.Client
		if c, err = client.New(client.Config{Conn: nc, Run: "doors", ID: "other",
			Objective: objective.Func(dim, bowl.Of(1))}); err == nil {
			err = c.Run(ctx)
		}
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "the other device:", err)
	}
}

// ticks are the clock ticks a second of times in /proc.
const ticks = 100

// used returns what a process and its children use now.
func used(pid int) (u usage, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from field 3 on
	if len(fields) < 22 {
		return u, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields)+2)
	}
	var numbers [4]int64
	for i, field := range []int{14, 15, 20, 24} {
		if numbers[i], err = strconv.ParseInt(fields[field-3], 10, 64); err != nil {
			return u, err
		}
	}
	u = usage{cpu: time.Duration(numbers[0]+numbers[1]) * time.Second / ticks,
		threads: int(numbers[2]), resident: numbers[3] * int64(os.Getpagesize())}
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return u, err
	}
	for _, name := range lists {
		children, _ := os.ReadFile(name) // a thread may have ended
		for child := range strings.FieldsSeq(string(children)) {
			pid, err := strconv.Atoi(child)
			if err != nil {
				return u, err
			}
			more, err := used(pid)
			if err != nil {
				return u, err
			}
			u.cpu, u.threads, u.resident = u.cpu+more.cpu, u.threads+more.threads,
				u.resident+more.resident
		}
	}
	return u, nil
}

// bound takes part through client/mobile: the device of door mobile.
func bound(args []string) error {
	if len(args) != 3 {
		return errors.New("give URL, RUN and ID")
	}
	cfg := mobile.NewConfig()
	cfg.Run, cfg.Device, cfg.Dim, cfg.Plaintext = args[1], args[2], dim, true
	if err := cfg.AddServer(args[0]); err != nil {
		return err
	}
	cfg.SetBlockObjective(first(make([]byte, 4*dim)))
	cfg.SetListener(listener{})
	c, err := mobile.NewClient(cfg)
	if err != nil {
		return err
	}
	return c.Run()
}

// first is a loss whose lowest point is 1 in the first parameter, which reads all of them.
type first []byte

func (b first) Loss(r *mobile.Round) (float64, error) {
	_, err := r.ReadParams(0, b)
	x := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	return (x - 1) * (x - 1), err
}

// listener prints what goes wrong.
type listener struct{}

func (listener) OnState(int, string) error { return nil }

func (listener) OnProgress(_, _, _, _ int64, _ float64) error { return nil }

func (listener) OnFault(code, message string) error {
	fmt.Fprintln(os.Stderr, code, message)
	return nil
}
