//go:build linux

package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/wire"
)

// A siege is a run whose broker is attacked: `zofl serve --tls --auth` in a process with few
// descriptors, and honest devices.
type siege struct {
	*enrolled
	serve    *process
	operator []string
	page     string        // of the dashboard
	within   time.Duration // how long a status may take
}

// files is how many descriptors the besieged process has.
const files = 1024

func newSiege(t *testing.T) *siege {
	t.Helper()
	addresses, dir := []string{freeport.Address(t), freeport.Address(t)}, t.TempDir()
	k := &kitchen{t: t, dir: dir, url: "tls://" + addresses[0], log: filepath.Join(dir, "log"),
		plan: filepath.Join(dir, "plan.json")}
	(&guardedKitchen{kitchen: k}).newPlan("--set", "members=3", "--set", "quorum=2",
		"--set", "rounds=1000000")
	s := &siege{enrolled: &enrolled{k, filepath.Join(dir, "auth")}, page: "http://" + addresses[1],
		within: patience}
	s.serve = startWithFiles(t, files, "serve", k.plan, "--store", k.log, "--listen", addresses[0],
		"--tls", "--auth", s.auth, "--http", addresses[1], "--log-format", "json")
	s.serve.says(&s.serve.stderr, "waiting for devices")
	s.operator = s.add("desk", "operator")
	for _, id := range []string{"a", "b", "c"} {
		s.device(id)
	}
	s.recordsReach(s.operator, 5)
	began := time.Now()
	s.status()
	// A few seconds where the machine is free. Short tests run beside others.
	s.within = time.Duration(times(30, 5))*time.Second + 10*time.Since(began)
	return s
}

// startWithFiles starts the program with a limit of descriptors.
func startWithFiles(t *testing.T, files int, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, args: args, done: make(chan struct{})}
	p.cmd = exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(
		"ulimit -n %d; exec \"$0\" \"$@\"", files), self}, args...)...)
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

// device enrols a device and starts it.
func (s *siege) device(id string) *process {
	s.t.Helper()
	return start(s.t, append([]string{"client", "--id", id, "--quiet", "--objective", "bowl", "--dim",
		fmt.Sprint(kitchenDim), "--delay", "10ms"}, s.add(id, "device")...)...)
}

// memory returns how many MB the besieged process has.
func (s *siege) memory(field string) int {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.serve.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if words := strings.Fields(line); words[0] == field+":" {
			n, err := strconv.Atoi(words[1])
			if err != nil {
				s.t.Fatal(err)
			}
			return n >> 10
		}
	}
	s.t.Fatalf("no %s", field)
	return 0
}

// status returns what an operator sees. An attack must not keep a status away for longer than
// s.within.
func (s *siege) status() (status operate.Status) {
	s.t.Helper()
	for began := time.Now(); ; {
		code, out, said := runs(s.t, append([]string{"status", "--json"}, s.operator...)...)
		took := time.Since(began)
		switch {
		case took > s.within:
			s.t.Fatalf("status: exit code %d after %v, want 0 within %v: %s\nserve: %s", code, took,
				s.within, said, s.serve.stderr.String())
		case code != 0:
			s.t.Logf("status: %s", said)
			continue
		}
		if err := json.Unmarshal([]byte(out), &status); err != nil {
			s.t.Fatal(err)
		}
		return status
	}
}

// rounds measures the rounds a second.
func (s *siege) rounds() float64 {
	s.t.Helper()
	began, n := time.Now(), s.status().N
	time.Sleep(time.Duration(times(1, 4)) * time.Second)
	return float64(s.status().N-n) / time.Since(began).Seconds()
}

// open checks that the operator reaches the run and the broker: status, the dashboard, a device
// that comes, and its revocation.
func (s *siege) open(id string) {
	s.t.Helper()
	s.status()
	page, err := (&http.Client{Timeout: patience}).Get(s.page)
	if err != nil {
		s.t.Fatalf("the dashboard: %v", err)
	}
	_ = page.Body.Close()
	d := s.device(id)
	await.That(s.t, "a new device joins", func() bool {
		code, out, _ := runs(s.t, append([]string{"devices", "--json"}, s.operator...)...)
		return code == 0 && strings.Contains(out, `"`+id+`"`)
	})
	if code, out, said := runs(s.t, "device", "revoke", id, "--auth", s.auth); code != 0 {
		s.t.Fatalf("revoke: exit code %d: %s%s", code, out, said)
	}
	_ = d.cmd.Process.Kill()
	if code, _, said := runs(s.t, append([]string{"retire", id}, s.operator...)...); code != 0 {
		s.t.Errorf("retire: exit code %d: %s", code, said)
	}
}

// A raw is a connection of a program that obeys no library.
type raw struct {
	net.Conn
	in *bufio.Reader
}

// raw connects to the broker with a user's creds, or returns why that failed.
func (s *siege) raw(creds string) (*raw, error) {
	content, err := os.ReadFile(creds)
	if err != nil {
		return nil, err
	}
	token, err := jwt.ParseDecoratedJWT(content)
	if err != nil {
		return nil, err
	}
	pair, err := jwt.ParseDecoratedUserNKey(content)
	if err != nil {
		return nil, err
	}
	return s.login(token, pair)
}

func (s *siege) login(token string, pair nkeys.KeyPair) (*raw, error) {
	nc, err := net.Dial("tcp", strings.TrimPrefix(s.url, "tls://"))
	if err != nil {
		return nil, err
	}
	s.t.Cleanup(func() { _ = nc.Close() })
	line, err := bufio.NewReader(nc).ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var info struct{ Nonce string }
	if err := json.Unmarshal(bytes.TrimPrefix(line, []byte("INFO ")), &info); err != nil {
		return nil, err
	}
	signed, err := pair.Sign([]byte(info.Nonce))
	if err != nil {
		return nil, err
	}
	//nolint:gosec // the attacker does not care who answers
	over := tls.Client(nc, &tls.Config{InsecureSkipVerify: true})
	r := &raw{over, bufio.NewReader(over)}
	_, err = fmt.Fprintf(r, "CONNECT {\"verbose\":false,\"protocol\":1,\"jwt\":%q,\"sig\":%q}\r\n"+
		"PING\r\n", token, base64.RawURLEncoding.EncodeToString(signed))
	if err != nil {
		return nil, err
	}
	for {
		line, err := r.in.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "-ERR") {
			return nil, fmt.Errorf("%s%w", line, err)
		}
		if strings.HasPrefix(line, "PONG") {
			return r, nil
		}
	}
}

// TestSiege attacks the broker that serve starts in each way that has stopped one. Before each, the
// broker has forgotten the one before.
func TestSiege(t *testing.T) {
	s := newSiege(t)
	before := s.rounds()
	t.Logf("before: %.1f rounds/s, %d MB", before, s.memory("VmHWM"))
	t.Run("subscriptions", func(t *testing.T) {
		s.t = t
		r, err := s.raw(s.add("subscriber", "device")[3])
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, r.in) }()
		w, long := bufio.NewWriterSize(r, 1<<20), strings.Repeat("x", 3800)
		began, sent := time.Now(), 0
		for ; sent < times(5_000, 300_000); sent++ {
			if _, err := fmt.Fprintf(w, "SUB _INBOX_subscriber.%s.%d %d\r\n", long, sent, sent); err != nil {
				break
			}
		}
		_ = w.Flush()
		t.Logf("%d subscriptions in %v: at most %d MB", sent, time.Since(began), s.memory("VmHWM"))
		s.open("after-subscriptions")
		if got := s.memory("VmHWM"); got > 200 {
			t.Errorf("serve took %d MB", got)
		}
	})
	t.Run("fanout", func(t *testing.T) {
		s.t = t
		creds := s.add("fan", "device")[3]
		for range 10 {
			r, err := s.raw(creds)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				w := bufio.NewWriter(r)
				for i := range times(2_000, 20_000) {
					if _, err := fmt.Fprintf(w, "SUB zo.kitchen.a.* %d\r\n", i); err != nil {
						return
					}
				}
				_ = w.Flush()
			}()
		}
		t.Logf("%.1f rounds/s", s.rounds())
		s.serve.says(&s.serve.stderr, "more than two connections", `"id":"fan"`)
	})
	t.Run("strangers", func(t *testing.T) {
		s.t = t
		began := time.Now()
		for range 3000 {
			nc, err := net.Dial("tcp", strings.TrimPrefix(s.url, "tls://"))
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
		}
		s.status()
		t.Logf("3000 connections, and a status, in %v; at most %d MB", time.Since(began),
			s.memory("VmHWM"))
		s.open("after-strangers")
		t.Logf("a device came and was revoked after %v", time.Since(began))
	})
	t.Run("connections", func(t *testing.T) {
		s.t = t
		creds, began, in := s.add("crowd", "device")[3], time.Now(), 0
		for range times(200, 1500) {
			if _, err := s.raw(creds); err == nil {
				in++
			}
		}
		t.Logf("%d connections were let in, in %v", in, time.Since(began))
		s.open("after-connections")
		if code, out, said := runs(t, "device", "revoke", "crowd", "--auth", s.auth); code != 0 {
			t.Errorf("revoke: exit code %d: %s%s", code, out, said)
		}
		s.serve.says(&s.serve.stderr, "more than two connections", `"id":"crowd"`)
	})
	t.Run("one inbox", func(t *testing.T) { // which the coordinator may answer once
		s.t = t
		r, err := s.raw(s.add("spammer", "device")[3])
		if err != nil {
			t.Fatal(err)
		}
		request := string((&wire.CatchUpRequest{From: 1, MaxBytes: 1 << 10}).Append(nil))
		message := fmt.Sprintf("PUB zo.kitchen.c.spammer _INBOX_spammer.x %d\r\n%s\r\n",
			len(request), request)
		if _, err := io.WriteString(r, strings.Repeat(message, 2000)); err != nil {
			t.Fatal(err)
		}
		s.serve.says(&s.serve.stderr, "the broker reports an error", "_INBOX_spammer.x")
		s.status()
		for line := range strings.Lines(s.serve.stderr.String()) {
			if !strings.HasPrefix(line, "{") {
				t.Fatalf("a line past the log: %s", line)
			}
		}
		if n := lines(s.serve.stderr.String(), "the broker reports"); n > 20 {
			t.Errorf("%d lines for 2000 requests", n)
		}
	})
	t.Run("garbage", func(t *testing.T) {
		s.t = t
		creds := s.add("evil", "device")[3]
		message := strings.Repeat("PUB zo.kitchen.c.evil _INBOX_evil.x 7\r\ngarbage\r\n", 1000)
		stop := make(chan struct{})
		defer close(stop)
		for range 4 {
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					r, err := s.raw(creds)
					for err == nil {
						_, err = io.WriteString(r, message)
					}
				}
			}()
		}
		s.serve.says(&s.serve.stderr, "banned", `"id":"evil"`)
		t.Logf("%.1f rounds/s", s.rounds())
		if b := s.status().Banned; !slices.ContainsFunc(b, func(b operate.Ban) bool {
			return b.ID == "evil"
		}) {
			t.Errorf("banned: %v, want evil", b)
		}
		if code, out, said := runs(t, "device", "revoke", "evil", "--auth", s.auth); code != 0 {
			t.Errorf("revoke: exit code %d: %s%s", code, out, said)
		}
	})
	t.Logf("after: %.1f rounds/s, %d MB, at most %d MB", s.rounds(),
		s.memory("VmRSS"), s.memory("VmHWM"))
}
