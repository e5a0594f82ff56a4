package replica

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

const logsFile = "testdata/logs.txt"

const logsComment = `# Logs of runs, with the digest of the state after each record: for whoever
# ports the replay. docs/replay.md, "Vectors", says how to read them.

`

// TestGoldenLogs compares logs with a file that has all their records: the golden runs, a run of
// every preset, and a run with changes and rollbacks by an operator.
func TestGoldenLogs(t *testing.T) {
	var out bytes.Buffer
	out.WriteString(logsComment)
	for _, g := range readGolden(t) {
		writeLog(t, &out, g.name, scriptOf(t, g))
	}
	for _, p := range presetPlans(t) {
		writeLog(t, &out, "preset "+p.Preset, presetScript(p))
	}
	writeLog(t, &out, "rollbacks, changes and an end", operatedScript(t))
	writeLog(t, &out, "rollbacks into what others undid, late work of signs", wanderingScript(t))
	writeLog(t, &out, "a change of sigma and of the candidates, a rollback", sigmaScript(t))
	compareFile(t, logsFile, out.Bytes())
}

const (
	refusedFile    = "testdata/refused.txt"
	refusedComment = `# Logs of runs, and records that a replica refuses after them: for whoever ports
# the replay. docs/replay.md, "Vectors", says how to read them.

`
)

// TestRefusedLogs compares with a file the records of TestHostileRounds, each behind a log and
// before the record that follows in it.
func TestRefusedLogs(t *testing.T) {
	var out bytes.Buffer
	out.WriteString(refusedComment)
	for _, tt := range hostileRounds {
		s := hostileScript(t, tt.plan, 3)
		n := len(s.records)
		refused := hostileRecord(t, s, tt.edit)
		writeRecords(t, &out, tt.plan+": "+tt.name, s, n, refused)
	}
	compareFile(t, refusedFile, out.Bytes())
}

const (
	candidatesFile    = "testdata/candidates.txt"
	candidatesComment = `# Logs of runs with server_rule=cma, and candidates of the record after them:
# for whoever ports a device. docs/replay.md, "Vectors", says how to read them.

`
)

// TestCandidateLogs compares candidates with a file: those of the golden runs of cma.
func TestCandidateLogs(t *testing.T) {
	var out bytes.Buffer
	out.WriteString(candidatesComment)
	for _, g := range readGoldenFile(t, "testdata/evolution.txt") {
		s := scriptOf(t, g)
		r := replayRecords(t, &out, g.name, s, -1, nil)
		dst := make([]float32, s.plan.Dim)
		for k := range int(s.plan.Perturbations) {
			r.Candidate(dst, r.N()+1, k)
			b, err := binary.Append(nil, binary.LittleEndian, dst)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "candidate: %d %x\n", k, sha256.Sum256(b))
		}
		out.WriteByte('\n')
	}
	compareFile(t, candidatesFile, out.Bytes())
}

// compareFile compares a file with what it should have, or writes it with -update.
func compareFile(t *testing.T, name string, text []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(string(text), "\n"), strings.Split(string(want), "\n")
	if len(got) != len(wanted) {
		t.Fatalf("%d lines, %s has %d", len(got), name, len(wanted))
	}
	for i, line := range got {
		if line != wanted[i] {
			t.Fatalf("line %d: %.100s, %s has %.100s", i+1, line, name, wanted[i])
		}
	}
}

// presetPlans returns the plans of presets as the file has them, whatever the present defaults are,
// and the plans of presets that the file lacks.
func presetPlans(t *testing.T) (plans []*plan.Plan) {
	t.Helper()
	text, err := os.ReadFile(logsFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^run: preset .*\nrecord: (.*)$`).
		FindAllStringSubmatch(string(text), -1) {
		b, _ := hex.DecodeString(m[1])
		r, err := wire.DecodeRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		plans, known[r.Plan.Preset] = append(plans, r.Plan), true
	}
	for _, name := range preset.Names() {
		if !known[name] {
			plans = append(plans, presetPlan(t, name))
		}
	}
	return plans
}

// presetPlan is the plan of a run of a preset over few parameters.
func presetPlan(t *testing.T, name string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "preset-"+name, 4099)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = bytes.Repeat([]byte{5}, 32)
	if p.StepSize == 0 {
		p.StepSize = 0.01 // otherwise the run would find a step size
	}
	if p.Features > 0 {
		p.Features = 300
	}
	return p
}

// presetScript is a run of such a plan.
func presetScript(p *plan.Plan) *script {
	s := newScript(p)
	for i := range 2 + 2*p.SubspaceMoves {
		s.round(uint64(i + 1))
	}
	return s
}

// operatedScript is a run that an operator changes, rolls back twice and ends.
func operatedScript(t *testing.T) *script {
	t.Helper()
	s := newScript(planOf(t, `{"dim":70,"perturbations":3,"rule":"momentum","beta":0.5,`+
		`"distribution":"subspace","subspace_moves":2,"subspace_share":0.5}`))
	for n := range uint64(3) {
		s.round(n + 1)
	}
	s.change("beta", "0.25")
	s.plan.Beta = 0.25
	s.round(4)
	s.rollback(3)
	s.plan.Beta = 0.5
	s.round(3)
	s.change("weight_decay", "0.01")
	s.rollback(7)
	s.round(3)
	s.round(4)
	s.rollback(1)
	s.round(1)
	s.records = append(s.records, s.chain.add(wire.Record{Kind: wire.KindEnd,
		End: &wire.End{Reason: wire.EndRequested, Text: "enough"}}))
	return s
}

// wanderingScript is a run that returns into branches that earlier rollbacks undid, and to
// rollbacks.
func wanderingScript(t *testing.T) *script {
	t.Helper()
	s := newScript(planOf(t, `{"dim":4100,"steps":2,"perturbations":5,"late":3,`+
		`"distribution":"rademacher","rule":"momentum","beta":0.5,"prox":0.25,"weight_decay":0.01}`))
	s.round(1)
	s.round(2)
	s.rollback(2) // record 4, over round 2
	s.change("perturbations", "9")
	s.plan.Perturbations = 9
	s.round(2)
	s.rollback(3) // record 7, into what record 4 undid
	s.plan.Perturbations = 5
	s.round(3)
	s.rollback(6) // record 9, into what record 7 undid
	s.plan.Perturbations = 9
	s.round(3)
	s.rollback(4) // record 11, to a rollback
	s.plan.Perturbations = 5
	s.round(2)
	s.rollback(1)
	s.round(1)
	return s
}

// sigmaScript is a run of cma whose operator sets sigma, raises the number of candidates and goes
// back.
func sigmaScript(t *testing.T) *script {
	t.Helper()
	s := newScript(planOf(t, `{"dim":19,"perturbations":6,"difference":"none","mu":0,`+
		`"server_rule":"cma","step":0.5,"restarts":1}`))
	s.round(1)
	s.round(2)
	s.change("step", "0.125")
	s.plan.StepSize = 0.125
	s.round(3)
	s.change("perturbations", "21")
	s.plan.Perturbations = 21
	s.round(4)
	s.rollback(3)
	s.plan.Perturbations, s.plan.StepSize = 6, 0.5
	s.round(3)
	return s
}

// writeLog replays a script and writes it.
func writeLog(t *testing.T, out *bytes.Buffer, name string, s *script) {
	t.Helper()
	writeRecords(t, out, name, s, -1, nil)
}

// writeRecords replays a script and writes it, with a record to refuse before record i.
func writeRecords(t *testing.T, out *bytes.Buffer, name string, s *script, at int, refused []byte) {
	t.Helper()
	replayRecords(t, out, name, s, at, refused)
	out.WriteByte('\n')
}

// replayRecords is writeRecords without the line that ends a run. It returns the replica.
func replayRecords(t *testing.T, out *bytes.Buffer, name string, s *script, at int,
	refused []byte) *Replica {
	t.Helper()
	fmt.Fprintf(out, "run: %s\n", name)
	if s.plan.Initial == plan.Given {
		fmt.Fprintf(out, "given: %d from 1\n", s.plan.Dim)
	}
	if s.plan.Private() {
		fmt.Fprintf(out, "secret: %x\n", secret)
	}
	r := New(s.cfg)
	for i, b := range s.records {
		if i == at {
			refuses(t, r, refused, wire.ErrValue)
			fmt.Fprintf(out, "refused: %x\n", refused)
		}
		r = s.next(t, r, i)
		fmt.Fprintf(out, "record: %x\n", b)
		if object := objectOf(t, b); len(object) > 0 {
			digest := [wire.ObjectLen]byte(object)
			fmt.Fprintf(out, "object: %d from %d\n", len(s.objects[digest])/4, s.seeds[digest])
		}
		fmt.Fprintf(out, "digest: %x\n", digestOf(r))
	}
	return r
}

// next returns the replica after records[i]. r is the replica after the record before.
func (s *script) next(t *testing.T, r *Replica, i int) *Replica {
	t.Helper()
	record, err := wire.DecodeRecord(s.records[i])
	if err != nil {
		t.Fatal(err)
	}
	if record.Kind == wire.KindRollback {
		r = New(s.cfg)
		for j := range int(record.To) {
			r = s.next(t, r, j)
		}
		for _, passed := range s.records[record.To:i] {
			if err := r.Skip(passed); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.apply(t, r, s.records[i])
	return r
}

// rollback adds a rollback record.
func (s *script) rollback(to uint64) {
	s.records = append(s.records, s.chain.add(wire.Record{Kind: wire.KindRollback, To: to}))
}

// objectOf returns the digest of a round's vector, if it has one.
func objectOf(t *testing.T, record []byte) []byte {
	t.Helper()
	r, err := wire.DecodeRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	if r.Kind != wire.KindRound {
		return nil
	}
	return r.Round.Object
}
