package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

//go:embed peer.py
var script string

// install is the command that installs what any missing row needs.
const install = "apt-get install -y python3-numpy python3-torch, or pip install numpy torch"

// A speed is the result of one loop.
type speed struct {
	Name  string
	Speed float64 // elements a second
}

// A peer is a Python process that measures on request.
type peer struct {
	name  string
	hello struct {
		Versions string
		Missing  []string
	}
	cmd     *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Reader
	faults  *strings.Builder // its standard error
}

// start starts an interpreter. The end of ctx ends the interpreter.
func start(ctx context.Context, name string) (*peer, error) {
	p := &peer{name: name, cmd: exec.CommandContext(ctx, name, "-c", script),
		faults: &strings.Builder{}}
	p.cmd.Stderr = p.faults
	answers, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.ask, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.answers = bufio.NewReader(answers)
	if err := p.read(&p.hello); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// measure runs all loops once.
func (p *peer) measure() ([]speed, error) {
	if _, err := io.WriteString(p.ask, "go\n"); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", p.name, err, p.faults)
	}
	var speeds []speed
	if err := p.read(&speeds); err != nil {
		return nil, err
	}
	return speeds, nil
}

func (p *peer) read(answer any) error {
	line, err := p.answers.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, answer)
	}
	if err != nil {
		return fmt.Errorf("%s: answer %q: %w", p.name, line, err)
	}
	return nil
}

// close ends the process, and returns its error output if it failed.
func (p *peer) close() error {
	p.ask.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, p.faults)
	}
	return nil
}
