package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// TestWrongInput: for a wrong flag, a command returns a usage error that names the flag and the
// value, and says what to give.
func TestWrongInput(t *testing.T) {
	dir := t.TempDir()
	plan, junk := newPlan(t), filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte("junk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(dir, "lost")
	none := filepath.Join(dir, "none")
	const there = ": no such file or directory: name one that is there"
	status := func(url string, more ...string) []string {
		return append([]string{"status", "--run", "r", "--url", url}, more...)
	}
	plain := filepath.Join(dir, "loss.py")
	bad := filepath.Join(dir, "elsewhere")
	for name, text := range map[string]string{plain: "print(1)\n", bad: "#!" + none + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	const absent = ": no such file or directory: name a program that is there, and see that the " +
		"interpreter in its first line is"
	const local = "nats://127.0.0.1:1"
	client := []string{"client", "--run", "r", "--id", "a", "--url", local}
	exec := []string{"exec", "--run", "r", "--id", "a", "--url", local, "--"}
	serve := []string{"serve", plan, "--store", filepath.Join(dir, "s"), "--listen", "127.0.0.1:0"}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{status("nats://127.0.0.1:99999"), "--url nats://127.0.0.1:99999: give a port from 1 to 65535"},
		{status("nats://127.0.0.1:0"), "--url nats://127.0.0.1:0: give a port from 1 to 65535"},
		{status("nats://127.0.0.1:42x"), "--url nats://127.0.0.1:42x: no address: write it as tls://"},
		{status("nats://me:pa%zz@127.0.0.1"), "--url is no address: write it as tls://"},
		{status(local, "--nkey", junk), "--nkey " + junk + ": nkeys: no nkey seed found: give a file"},
		{status(local, "--tls-cert", junk, "--tls-key", junk), "give a certificate in PEM, and with"},
		{[]string{"serve", plan, "--store", filepath.Join(dir, "s"), "--listen", "4222"},
			"--listen 4222: write it as HOST:PORT, such as 127.0.0.1:4222"},
		{[]string{"plan", none}, "plan " + none + there},
		{[]string{"plan", dir}, "plan " + dir + ": is a directory: name another one"},
		{[]string{"plan", "--run", "r", "--dim", "0"}, "--dim 0: give the number of parameters"},
		{[]string{"plan", "--run", "r", "--dim", "2", "--write", filepath.Join(none, "p.json")},
			"/p.json: no such file or directory: make its directory first"},
		{[]string{"plan", "--run", "r", "--dim", "2", "--secret", filepath.Join(none, "key")},
			"/key: no such file or directory: make its directory first"},
		{[]string{"plan", "--run", "r", "--initial", none + ".npy"}, none + ".npy" + there},
		{[]string{"plan", "--run", "r", "--initial", none + ".f32"}, none + ".f32" + there},
		{append(client, "--secret", none), "--secret " + none + there},
		{append(client, "--initial", none+".f32"), "--initial " + none + ".f32" + there},
		{append(serve, "--allow", none), "--allow " + none + there},
		{append(serve, "--offer", none), "--offer " + none + there},
		{[]string{"recover", "--from", none, "--store", lost}, "--from " + none + there},
		{[]string{"recover", "--from", junk, "--store", lost}, "--from " + junk +
			": no usable state: name the state file of a device, or the directory of its store"},
		{[]string{"log", "--store", none}, "--store " + none + ": no log there: give the directory"},
		{[]string{"verify", "--store", none}, "--store " + none + ": no log there: give the directory"},
		{[]string{"history", "--store", none}, "--store " + none + ": no log there: give the dir"},
		{[]string{"simulate", plan, "--exec", none}, "--exec " + none + absent},
		{[]string{"simulate", plan, "--exec", bad + " 1"}, "--exec " + bad + absent},
		{[]string{"tune", plan, "--", none, "1"}, "-- " + none + absent},
		{[]string{"tune", plan, "--exec", "no-such-program"}, "--exec no-such-program: executable " +
			"file not found in $PATH: name a program that is there"},
		{append(exec, plain), "-- " + plain + ": permission denied: give this user the right to"},
		{[]string{"demo", "--data", none}, "--data: " + none + "/train-images-idx3-ubyte: " +
			"file does not exist, neither plain nor as .gz: download MNIST's four IDX files there"},
		{[]string{"demo", "--split", "odd"}, "--split odd: choose iid, shards"},
		{[]string{"demo", "--devices", "0"}, "--devices 0: give 1 or more"},
		{[]string{"demo", "--set", "rounds"}, "rounds = nothing: write it as field=value"},
		{[]string{"demo", "--set", "mu=1", "--set", "initial=given"},
			"--set mu=1, initial=given: leave out key_check and initial"},
		{[]string{"demo", "--method", "fzoos", "--set", "features=65000", "--set", "window=5000"},
			"--devices 20: at 3216 MiB each, the devices need more than the 4 GiB"},
		{[]string{"plan", "--dim", "2", "--set", "rounds"}, "rounds = nothing: write it as field=value"},
		{append(client, "--objective", "odd"), "--objective odd: choose one of bowl, "},
		{[]string{"tune", plan, "--objective", "bowl", "--devices", "-1"}, "--devices -1: give 1"},
		{[]string{"tune", plan, "--objective", "bowl", "--queries", "1"}, "--queries 1: give "},
		{[]string{"tune", plan, "--objective", "bowl", "--fields", "beta"}, "--fields beta: choose of"},
		{[]string{"demo", "--method", "sgd"}, "--method sgd: choose one of cma, "},
		{[]string{"simulate", plan, "--rounds", "1", "--split", "odd"}, "--split odd: choose iid"},
		{[]string{"tune", plan, "--out", filepath.Join(none, "p")}, "--out " + filepath.Join(none, "p") +
			": no such file or directory: make its directory first"},
		{[]string{"tune", plan, "--plot", filepath.Join(junk, "p.svg")}, "--plot " +
			filepath.Join(junk, "p.svg") + ": not a directory: name another one"},
		{[]string{"simulate", plan, "--objective", "bowl", "--rounds", "1", "--out", junk}, "--out " +
			junk + ": not a directory: name another one"},
		{[]string{"simulate", plan, "--objective", "bowl", "--rounds", "1", "--out",
			filepath.Join(junk, "x")}, "--out " + filepath.Join(junk, "x") +
			": not a directory: name another one"},
		{append(client, "--out", filepath.Join(none, "x.npy")), "--out " +
			filepath.Join(none, "x.npy") + ": no such file or directory: make its directory first"},
		{append(client, "--out", filepath.Join(junk, "x.npy")), "--out " +
			filepath.Join(junk, "x.npy") + ": not a directory: name another one"},
		{[]string{"export", "--store", none, "--out", filepath.Join(none, "x.npy")}, "--out " +
			filepath.Join(none, "x.npy") + ": no such file or directory: make its directory first"},
		{[]string{"plan", "--dim", "2", "--set", "stop_metric=loss"}, "stop_metric = loss: it is none " +
			"of metrics, which has []; set metrics=[\"loss\"] "},
		{[]string{"permissions", "--run", "r", "--role", "chief"}, "--role chief: choose one of device"},
		{[]string{"permissions"}, "--run is missing: give the name of the run"},
	} {
		_, err := zofl(t, tt.args...)
		if !errors.As(err, new(cli.UsageError)) || !strings.Contains(err.Error(), tt.want) ||
			strings.HasPrefix(tt.want, "--") && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("zofl %v: %v, want %q", tt.args, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "pa%zz") {
			t.Errorf("zofl %v prints the password: %v", tt.args, err)
		}
	}
}

// TestServeALedLog: a second zofl serve with the log of a running one fails, and says to end the
// first.
func TestServeALedLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	log, err := filelog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_, err = zofl(t, "serve", newPlan(t), "--store", dir, "--listen", "127.0.0.1:0")
	if want := "--store " + dir + ": in use by another coordinator: end that zofl serve first"; err ==
		nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
