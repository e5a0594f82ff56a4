//go:build linux

package scaling

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// TestDeploy starts what deploy/compose.yaml and the manifests for Kubernetes start, without
// containers: three servers of deploy/nats.conf with TLS, passwords of deploy/secrets.sh, and both
// coordinators with the arguments that the files give them. A device trains to the end of the run.
func TestDeploy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(root, "deploy"))); err != nil {
		t.Fatal(err)
	}
	s.run("bash secrets.sh 127.0.0.1 && zofl plan --run kitchen --dim 2 --set members=1 " +
		"--set rounds=12 --write plan.json")
	for _, name := range []string{"ca.crt", "tls.crt", "tls.key"} { // read by users of containers
		info, err := os.Stat(filepath.Join(s.dir, "certs", name))
		if err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v, want mode 0644", name, info, err)
		}
	}
	arguments := s.arguments("compose.yaml", "${", "}")
	if other := s.arguments("coordinator.yaml", "$(", ")"); !slices.Equal(arguments, other) {
		t.Errorf("compose.yaml has %q\nKubernetes has %q", arguments, other)
	}
	conf, err := os.ReadFile(filepath.Join(s.dir, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	text, command := string(conf), "zofl "+strings.Join(arguments, " ")
	var start []string
	text = strings.ReplaceAll(text, "/etc/nats/tls", "certs")
	for i := range 3 {
		ports, name := freeport.Take(t, 3), fmt.Sprintf("nats-%d", i)
		route := fmt.Sprint("127.0.0.1:", ports[1])
		text = strings.ReplaceAll(text, name+".nats:6222", route)
		command = strings.ReplaceAll(command, name+".nats:4222", fmt.Sprint("127.0.0.1:", ports[0]))
		start = append(start, fmt.Sprintf("nats-server --config %[1]s.conf --name %[1]s "+
			"--addr 127.0.0.1 --port %[2]d --http_port %[3]d --cluster nats://%[4]s",
			name, ports[0], ports[2], route))
	}
	for i, server := range start {
		name := fmt.Sprintf("nats-%d", i)
		own := strings.ReplaceAll(text, `"/data"`, name+".store")
		if err := os.WriteFile(filepath.Join(s.dir, name+".conf"), []byte(own), 0o600); err != nil {
			t.Fatal(err)
		}
		s.stay(name, known+server)
	}
	command = strings.ReplaceAll(command, "/etc/zofl/tls", "certs")
	command = known + strings.ReplaceAll(command, "/etc/zofl/", "")
	s.stay("serve", command)
	s.stay("standby", command)
	_, url, _ := strings.Cut(command, "--url=")
	url, _, _ = strings.Cut(url, " ")
	url = strings.ReplaceAll(strings.ReplaceAll(url, "COORDINATOR", "DEVICE"), "coordinator", "device")
	out := s.run(known + "zofl client --run kitchen --id pi-1 --objective bowl --dim 2 " +
		"--tls-ca certs/ca.crt --json --url " + url)
	if !strings.Contains(out, `"event":"ended"`) || !strings.Contains(out, `"round":12`) {
		t.Errorf("the device says %s", out)
	}
}

// known puts the passwords into the environment of a command.
const known = "set -a; . ./passwords.env; "

// arguments returns what a file of deploy gives zofl, as bash writes variables.
func (s *site) arguments(file, open, end string) (list []string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, file))
	if err != nil {
		s.t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "- serve\n")
	list = []string{"serve"}
	for line := range strings.Lines(text) {
		argument, found := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !found {
			break
		}
		argument = strings.ReplaceAll(argument, open, "${")
		list = append(list, strings.ReplaceAll(argument, end, "}"))
	}
	if len(list) < 5 {
		s.t.Fatalf("%s gives zofl %q", file, list)
	}
	return list
}
