//go:build unix

package servers

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for a server.
const patience = 2 * time.Minute

// A Server is one process. Any goroutine may call the methods of a Server.
type Server struct {
	Name string // server_name, as streams report their leader
	URL  string // nats://127.0.0.1:port

	dir     string // of its configuration, store and log
	program func() (string, error)
	routes  *routes // nil: servers reach it directly

	mu    sync.Mutex // guards what follows
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// start starts the process; it may not accept connections yet.
func (s *Server) start(t testing.TB) {
	t.Helper()
	program, err := s.program()
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cmd := exec.Command(program, "--config", filepath.Join(s.dir, "server.conf"))
	cmd.Env = append(os.Environ(), storeVariable+"="+s.Store(), syncedVariable+"="+s.synced())
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // a killed process ends with an error
		close(ended)
	}()
	s.cmd, s.ended = cmd, ended
}

// await waits until the server accepts connections.
func (s *Server) await(t testing.TB) {
	t.Helper()
	Eventually(t, s.Name+" to listen", func() error {
		c, err := net.DialTimeout("tcp", s.URL[len("nats://"):], time.Second)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// Kill ends the process as a crash does (SIGKILL), and returns when the process has ended.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// end sends the process a signal that ends it.
func (s *Server) end(sig syscall.Signal) {
	s.signal(sig)
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	<-ended
}

// Terminate ends the process as a service manager does (SIGTERM), and returns when it has ended.
func (s *Server) Terminate() { s.end(syscall.SIGTERM) }

// Pause stops the process (SIGSTOP): its connections stay open, and the process does not answer.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Continue resumes a paused process.
func (s *Server) Continue() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.cmd.Process.Signal(sig) // the process may have ended just now
}

// Restart starts a killed server again, with the same ports and the same store, and returns when
// the server accepts connections.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.start(t)
	s.await(t)
}

// Store returns the directory in which the server keeps its streams.
func (s *Server) Store() string { return filepath.Join(s.dir, "store") }

// synced is where a recording server keeps what a power cut would leave.
func (s *Server) synced() string { return filepath.Join(s.dir, "synced") }

// PowerCut ends the process, and takes from its store all that the server did not sync: bytes, and
// whole files. The server must be one of a cluster with [Options.Recorded].
func (s *Server) PowerCut(t testing.TB) {
	t.Helper()
	s.Kill()
	from := s.synced()
	if _, err := os.Stat(s.flushed()); err == nil {
		from = s.flushed()
	}
	copyDir(t, s.Store(), from)
}

// Lie makes the server's disk lie from now on: it says that it has synced, and a power cut takes
// what came after Lie. The cluster must have [Options.Recorded].
func (s *Server) Lie(t testing.TB) {
	t.Helper()
	copyDir(t, s.flushed(), s.synced())
}

// flushed is what a lying disk has.
func (s *Server) flushed() string { return filepath.Join(s.dir, "flushed") }

// copyDir makes a directory the copy of another.
func copyDir(t testing.TB, to, from string) {
	t.Helper()
	err := os.RemoveAll(to)
	if err == nil {
		err = os.MkdirAll(from, 0o700) // nothing is synced yet
	}
	if err == nil {
		err = os.CopyFS(to, os.DirFS(from))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Damage flips a bit in the middle of each file of the store whose path matches, and returns how
// many files it has damaged. The server must be stopped.
func (s *Server) Damage(t testing.TB, match func(path string) bool) (files int) {
	t.Helper()
	err := filepath.WalkDir(s.Store(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !match(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) == 0 {
			return err
		}
		text[len(text)/2] ^= 0x10
		files++
		return os.WriteFile(path, text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// SetAside moves the store of a stopped server aside, so that the server starts without one.
func (s *Server) SetAside(t testing.TB) {
	t.Helper()
	if err := os.Rename(s.Store(), s.Store()+".aside"); err != nil {
		t.Fatal(err)
	}
}

// Log returns the end of what the server has logged.
func (s *Server) Log() string {
	b, err := os.ReadFile(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-4000):])
}

// Eventually calls f until f returns nil. If that takes too long, Eventually fails the test with
// f's error.
func Eventually(t testing.TB, what string, f func() error) {
	t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return
		}
		select {
		case <-end:
			t.Fatalf("waited %v for %s: %v", patience, what, err)
		case <-tick.C:
		}
	}
}

// config is the configuration file of a server that listens to a port.
func config(s *Server, port int, sync, cluster string) string {
	return fmt.Sprintf(`server_name: %q
listen: "127.0.0.1:%d"
log_file: %q
max_payload: 64KB
jetstream { store_dir: %q, sync_interval: %s, max_file: 1GB, max_mem: 64MB }
accounts {
  $SYS { users: [{user: system, password: system}] }
  APP { jetstream: enabled, users: [{user: app, password: app}] }
}
no_auth_user: app
%s`, s.Name, port, filepath.Join(s.dir, "server.log"), s.Store(), sync, cluster)
}
