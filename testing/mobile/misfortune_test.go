package mobile

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stopped returns what a client reports that Stop ended.
func stopped(more line) line {
	all := line{"error": "", "state": "stopped"}
	maps.Copy(all, more)
	return all
}

// misfortunes are the cases of java/Misfortune.java with their expected results. A text
// that ends in * is the beginning of the value.
var misfortunes = map[string]line{
	// Losses and listeners.
	"throwing": stopped(line{"contributed": true,
		"fault": "*java.lang.IllegalStateException: out of luck\n\tat Losses.*"}),
	"throwingNothing": stopped(line{"contributed": true,
		"fault": "*java.lang.NullPointerException\n\tat Losses.*"}),
	"asserting": stopped(line{"contributed": true,
		"fault": "*java.lang.AssertionError: want 3\n\tat Losses.*"}),
	"hostile": stopped(line{"contributed": true, "fault": "*Losses$Hostile*"}),
	"nan":     stopped(line{"contributed": true, "fault": "*NaN*"}),
	"overflow": stopped(line{"contributed": true,
		"fault": "*java.lang.StackOverflowError\n\tat Losses.endless(Losses.java:*"}),
	"slow":           stopped(line{"contributed": true, "fault": "*"}),
	"late":           stopped(line{"contributed": true}),
	"forever":        stopped(line{"contributed": true}),
	"badListener":    stopped(line{"contributed": true, "told": true}),
	"stopInLoss":     stopped(nil),
	"stopInListener": stopped(nil),
	// Calls.
	"threads":   stopped(line{"contributed": true, "differences": 0.0}),
	"revoked":   stopped(line{"contributed": true, "code": "revoked"}),
	"evaluator": stopped(line{"contributed": true, "code": "revoked", "late": "revoked"}),
	"twice": stopped(line{"second": "running", "load": "running",
		"after": "stopped", "model": true}),
	"budget": {
		"first": "", "firstContributed": true, "second": "", "secondContributed": true,
		"state": "idle", "negative": "config",
	},
	"policy": stopped(line{"contributed": true, "fault": "*metered*", "meanwhile": 0.0}),
	"locked": stopped(line{"code": "locked"}),
	"arguments": stopped(line{
		"params": "config", "nullParams": "config", "digest": "config", "reads": "config config config 1",
		"noConfig": "config", "used": "config", "unmade": "revoked", "noObjective": "config",
		"server": "config",
		"ca":     "config", "credentials": "credentials", "runKey": "config", "initial": "config",
	}),
	"released": stopped(line{"released": 3.0}),
	"direct":   stopped(line{"contributed": true, "wrong": "", "late": "revoked"}),
	"notDirect": stopped(line{"contributed": true, "wrong": "", "unmade": "revoked",
		"codes": "config config config config config config config config 0"}),
	"shared":     stopped(line{"contributed": true, "others": ""}),
	"everything": {"errors": "", "enough": true},
	// Servers.
	"authority": stopped(line{"fault": "*certificate signed by unknown authority*",
		"while": "offline"}),
	"platform":   stopped(line{"contributed": true}),
	"stranger":   stopped(line{"fault": "*PKIX path building failed*", "while": "offline"}),
	"trustHangs": stopped(nil),
	"pinned":     stopped(line{"contributed": true}),
	"mispinned": stopped(line{"fault": "*no key of the server's certificates has a pin*",
		"while": "offline"}),
	"user":      stopped(line{"fault": "*Authorization Violation*", "while": "offline"}),
	"offline":   stopped(line{"fault": "*", "while": "offline"}),
	"clear":     stopped(line{"fault": "*offers no TLS*", "while": "offline"}),
	"insecure":  {"websocket": "insecure", "elsewhere": "insecure"},
	"dimension": {"code": "dim"},
}

// alone are the cases that need no run.
var alone = []string{"authority", "stranger", "trustHangs", "mispinned", "user", "offline", "clear",
	"insecure", "everything"}

// slowly are the cases whose losses take a busy machine seconds, and none of which outlives its
// round.
var slowly = []string{"overflow", "shared"}

// TestMisfortunes causes faults in one process of an app, one after another. Each fault costs only
// its own round or its own client, and the process survives.
func TestMisfortunes(t *testing.T) {
	t.Parallel()
	bound(t)
	s, open := newSite(t), newOpenSite(t)
	cases := slices.Sorted(maps.Keys(misfortunes))
	leads := map[string]*lead{}
	for _, name := range cases {
		if !slices.Contains(alone, name) {
			// The companion alone is enough for a round; otherwise no round would follow in
			// which to recover.
			p := testPlan(t, name, 100, 2, 1, 0)
			if p.Deadline = 1000; slices.Contains(slowly, name) {
				p.Deadline = 60_000
			}
			p.EvalEvery, p.EvalCount, p.Metrics = 1, 2, []string{"accuracy"}
			leads[name] = s.lead(p)
			leads[name].companions(1)
		}
	}
	settings := s.way()
	maps.Copy(settings, line{
		"cases": strings.Join(cases, ","), "dim": 100, "store": filepath.Join(t.TempDir(), "store"),
		"otherCA": newAuthority(t).pem(), "stranger": newUser(t).seed, "clear": open.url,
		"pin": pinOf(t, s.authority.pem()), "otherPin": pinOf(t, newAuthority(t).pem()),
	})
	p := java(t, "Misfortune", settings)
	for _, name := range cases {
		got := p.next("case")
		if got["case"] != name {
			t.Fatalf("got %v, want the outcome of %s", got, name)
		}
		if failed, ok := got["failed"]; ok {
			t.Errorf("%s: %v", name, failed)
		}
		for key, want := range misfortunes[name] {
			if !matches(got[key], want) {
				t.Errorf("%s: %s is %v, want %v", name, key, got[key], want)
			}
		}
		t.Log(got)
	}
	p.done()
	if e := leads["evaluator"].evaluation.Load(); e == nil || len(e.Metrics) != 1 ||
		e.Metrics[0] != 0.5 || e.Samples != 10 {
		t.Errorf("the coordinator has evaluation %+v, want accuracy 0.5 of 10 samples", e)
	}
}

// pinOf returns the pin of the key of a certificate in PEM.
func pinOf(t *testing.T, text string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return "sha256/" + base64.StdEncoding.EncodeToString(sum[:])
}

// matches compares values; a wanted text may have a * at either end.
func matches(got, want any) bool {
	pattern, ok := want.(string)
	text, isText := got.(string)
	if !ok || !isText || !strings.Contains(pattern, "*") {
		return got == want
	}
	return strings.Contains(text, strings.Trim(pattern, "*"))
}
