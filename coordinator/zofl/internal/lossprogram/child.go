package lossprogram

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// A child is a running program.
type child struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	kill   func()        // kills it and its children
	done   chan struct{} // closed when it has ended
}

// startChild runs a command. The program ends when this process ends. startChild logs the program's
// standard error line by line. If lock is not nil, the program holds it for as long as it runs.
func startChild(command []string, lock *os.File, logger *slog.Logger) (*child, error) {
	var ends []*os.File
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			ends = append(ends, r, w)
		}
		return r, w, err
	}
	closeAll := func() {
		for _, f := range ends {
			f.Close()
		}
	}
	in, stdin, err1 := pipe()
	stdout, out, err2 := pipe()
	stderr, errs, err3 := pipe()
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			closeAll()
			return nil, err
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	apart(cmd)
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
	started, gone := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // a program may end with the thread that started it
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(gone)
	}()
	if err := <-started; err != nil {
		closeAll()
		return nil, err
	}
	release := guard(cmd.Process)
	in.Close()
	out.Close()
	errs.Close()
	c := &child{cmd: cmd, stdin: stdin, stdout: stdout, stderr: stderr, done: make(chan struct{})}
	c.kill = sync.OnceFunc(func() { killGroup(cmd.Process) })
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		logLines(stderr, logger.With("program", cmd.Process.Pid))
	}()
	go func() {
		<-gone
		release()
		c.kill() // children of the program may still hold its pipes
		select {
		case <-logged:
		case <-time.After(time.Second): // a child outside the process group still holds them
			stderr.Close()
		}
		close(c.done)
	}()
	return c, nil
}

// end closes the program's input, so that the program ends. It kills the program if the program has
// not ended after patience.
func (c *child) end(patience time.Duration) {
	c.stdin.Close()
	select {
	case <-c.done:
	case <-time.After(patience):
		c.kill()
		<-c.done
	}
	c.stdout.Close()
}

// status says how a program ended.
func (c *child) status() string { return c.cmd.ProcessState.String() }

// logLines logs the standard error of a program, line by line, until it is closed.
func logLines(r io.ReadCloser, logger *slog.Logger) {
	defer r.Close()
	in := bufio.NewReaderSize(r, 4096) // a longer line becomes several
	for {
		line, _, err := in.ReadLine()
		if err != nil {
			return
		}
		logger.Info(fmt.Sprintf("%s", line))
	}
}
