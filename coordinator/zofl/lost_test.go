package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// trained returns a stopped kitchen with at least n records, and the index of its last one.
func trained(t *testing.T, n uint64) (k *kitchen, last uint64) {
	t.Helper()
	k = newKitchen(t)
	devices := []*service{k.device("a"), k.device("b")}
	k.reach(n)
	for _, s := range append(devices, k.lead) {
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
	return k, uint64(len(frames(t, k.log)))
}

// frames returns where each record of a log begins.
func frames(t *testing.T, dir string) (at []int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for off := len("zofl log 1\n"); off < len(b); {
		at = append(at, off)
		off += 12 + int(binary.LittleEndian.Uint32(b[off:]))
	}
	return at
}

// content returns all files of a directory.
func content(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintln(name, info.ModTime(), b)
	}
	return all
}

// leads serves a log again, with more flags.
func (k *kitchen) leads(flags ...string) *service {
	return background(k.t, append([]string{"serve", k.plan, "--store", k.log, "--listen",
		strings.TrimPrefix(k.url, "nats://")}, flags...)...)
}

// refuses checks that a command ends with exitCorrupt and a text that has the words. refuses stops
// a serve that leads the log instead.
func refuses(t *testing.T, words []string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	cmd := root()
	cmd.SetOut(io.Discard)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if ctx.Err() != nil {
		t.Fatalf("%v: it runs, want a refusal with %q", args, words)
	}
	if got := cli.ExitCode(err, false); got != cli.ExitCorrupt {
		t.Errorf("%v: exit code %d, want %d: %v", args, got, cli.ExitCorrupt, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v: %q, want %q in it", args, err, word)
		}
	}
}

// serve and verify refuse a log that was cut to half. serve leads such a log only if the operator
// accepts exactly that loss.
func TestServeAcceptsALoss(t *testing.T) {
	k, last := trained(t, 12)
	half := last / 2
	if err := os.Truncate(filepath.Join(k.log, "log"),
		int64(frames(t, k.log)[half])); err != nil {
		t.Fatal(err)
	}
	before := content(t, k.log)
	said := []string{fmt.Sprintf("record %d", half), fmt.Sprintf("record %d", last),
		fmt.Sprintf("--accept-loss %d", last-half)}
	refuses(t, said, "verify", "--store", k.log)
	if content(t, k.log) != before {
		t.Error("verify changed the log")
	}
	serve := []string{"serve", k.plan, "--store", k.log, "--listen",
		strings.TrimPrefix(k.url, "nats://")}
	refuses(t, said, serve...)
	refuses(t, said, append(serve, "--accept-loss", fmt.Sprint(last-half+1))...)
	k.lead = k.leads("--accept-loss", fmt.Sprint(last-half))
	if s := k.reach(1); s.N != half {
		t.Errorf("it leads a log of %d records, want %d", s.N, half)
	}
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	if out, err := zofl(t, "verify", "--store", k.log); err != nil {
		t.Errorf("once the loss is accepted: %v %s", err, out)
	}
}

// Without --begin-anew, serve begins no run in a directory whose earlier run lost its records.
func TestServeBeginsAnewOnlyIfAsked(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		k, last := trained(t, 5)
		if err := spoil(filepath.Join(k.log, "log")); err != nil {
			t.Fatal(err)
		}
		before := content(t, k.log)
		refuses(t, nil, "verify", "--store", k.log)
		refuses(t, nil, "log", "--store", k.log)
		if content(t, k.log) != before {
			t.Errorf("%s: verify or log changed the log", name)
		}
		serve := []string{"serve", k.plan, "--store", k.log, "--listen",
			strings.TrimPrefix(k.url, "nats://")}
		refuses(t, []string{"roster of 2 members", fmt.Sprintf("record %d was stored", last),
			"zofl recover --from", "--begin-anew"}, serve...)
		k.lead = k.leads("--begin-anew")
		if s := k.reach(1); s.N != 1 {
			t.Errorf("%s: it leads a log of %d records, want 1", name, s.N)
		}
		if err := k.lead.stop(); err != nil {
			t.Fatal(err)
		}
		for _, kept := range []string{"roster.before-1", "seen.before-1"} {
			if _, err := os.Stat(filepath.Join(k.log, kept)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// serve cuts off a record that a crash left unfinished, and verify reports such a record.
func TestVerifySaysWhatIsUnfinished(t *testing.T) {
	k, last := trained(t, 5)
	file, err := os.OpenFile(filepath.Join(k.log, "log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte{9, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := zofl(t, "verify", "--store", k.log)
	if want := fmt.Sprintf("3 bytes of an unfinished record %d", last+1); err != nil ||
		!strings.Contains(out, want) {
		t.Errorf("%v in %s, want %q", err, out, want)
	}
}

// The head of a record in the middle is overwritten with zeros, up to the end of a sector: verify
// and serve name the records behind it, and neither changes the log.
func TestServeCutsNoRecords(t *testing.T) {
	k, last := trained(t, 40)
	path := filepath.Join(k.log, "log")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := frames(t, k.log)[last/2]
	clear(b[at : at-at%512+512])
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	before := content(t, k.log)
	words := []string{fmt.Sprintf("record %d at byte %d", last/2+1, at),
		"intact records are behind it",
		fmt.Sprintf("to %d", last)}
	refuses(t, words, "verify", "--store", k.log)
	for _, flags := range [][]string{nil, {"--accept-loss", fmt.Sprint(last - last/2)}} {
		refuses(t, words, append([]string{"serve", k.plan, "--store", k.log, "--listen",
			strings.TrimPrefix(k.url, "nats://")}, flags...)...)
	}
	if content(t, k.log) != before {
		t.Error("verify or serve changed the log")
	}
}
