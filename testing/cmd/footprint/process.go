package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/zofl/zofl/testing/cmd/footprint/mark"
)

// patience is the time limit of a device.
const patience = 5 * time.Minute

// A trial is a device to be measured.
type trial struct {
	face  string // flat, stream, mobile or mobile-block
	dim   int
	marks []int64  // contributions at which the device is measured
	env   []string // added to this process's environment
}

// A look is the measurement of a device at a mark.
type look struct {
	mark.Mark
	resident
}

// measure runs a device, the only device of its run, through its marks.
func (l *lab) measure(t trial) (looks []look, err error) {
	path, err := l.device()
	if err != nil {
		return nil, err
	}
	run, stop, err := l.lead(t.dim)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, stop()) }()
	marks := strings.Trim(strings.ReplaceAll(fmt.Sprint(t.marks), " ", ","), "[]")
	cmd := exec.Command(path, "--url", l.broker.URL(), "--ca", l.ca, "--run", run, "--face", t.face,
		"--dim", fmt.Sprint(t.dim), "--marks", marks)
	cmd.Env = append(append(os.Environ(), "GOGC=100", "GOMEMLIMIT=off"), t.env...)
	return follow(cmd, len(t.marks))
}

// follow starts a device, measures the device at each of its marks, and returns when the device has
// ended.
func follow(cmd *exec.Cmd, marks int) (looks []look, err error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(out)
	for err == nil && len(looks) < marks && lines.Scan() {
		var now look
		if err = json.Unmarshal(lines.Bytes(), &now.Mark); err == nil {
			now.resident, err = memoryOf(cmd.Process.Pid)
		}
		looks = append(looks, now)
		io.WriteString(in, "\n") // if the device is gone, the error is found below
	}
	if err != nil {
		cmd.Process.Kill()
	}
	if e := cmd.Wait(); e != nil || len(looks) < marks {
		return nil, fmt.Errorf("device ended after %d of %d marks: %v, %v\n%s",
			len(looks), marks, err, e, stderr.Bytes())
	}
	return looks, err
}
