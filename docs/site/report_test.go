package main

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

var brokerURL = regexp.MustCompile(`broker=(nats://\S+)`)

// TestReportLooks checks that the pages of zofl report and zofl compare pass the same checks as the
// pages of the site.
func TestReportLooks(t *testing.T) {
	ctx := browser(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	zofl := filepath.Join(dir, "zofl")
	build := exec.Command("go", "-C", filepath.Join(root, "coordinator/zofl"), "build",
		"-o", zofl, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), zofl, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("zofl %v: %v\n%s", args, err, out)
		}
	}
	run("plan", "--run", "bowl", "--dim", "10", "--set", "rounds=60", "--set", "members=1", "--set",
		"target=1", "--set", "quorum=1", "--write", "bowl.json")
	serve := exec.Command(zofl, "serve", "bowl.json", "--store", "bowl.log", "--listen", "127.0.0.1:0")
	serve.Dir = dir
	serve.SysProcAttr = attributes()
	says, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = serve.Process.Kill(); _ = serve.Wait() }() // it may have ended
	line, err := bufio.NewReader(says).ReadString('\n')
	url := brokerURL.FindStringSubmatch(line)
	if url == nil {
		t.Fatalf("serve began with %q, %v", line, err)
	}
	run("client", "--url", url[1], "--run", "bowl", "--id", "pi-1", "--objective", "bowl", "--dim",
		"10")
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Fatal(err)
	}
	run("report", "--store", "bowl.log", "--out", "report.html")
	run("compare", "bowl.log", "bowl.log", "--out", "compare.html")
	watched(t, ctx, dir).look(dir, []string{"report.html", "compare.html"})
}
