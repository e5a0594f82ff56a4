package mobile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
)

// digitDim is the number of parameters of the Android example's classifier: ten
// digits, 14x14 pixels and a bias.
const digitDim = 10 * (14*14 + 1)

// kotlin compiles the program in folder kotlin and starts it.
func kotlin(t *testing.T, settings map[string]any) *program {
	t.Helper()
	sources, err := filepath.Abs("kotlin/src")
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for k, v := range settings {
		args = append(args, fmt.Sprintf("%s=%v", k, v))
	}
	return start(t, "DigitsKt", kotlinOf(t, sources, "DigitsKt", args...))
}

// kotlinOf compiles a folder of sources, with the Android example's core and bridge, and
// returns the command that runs one of its classes. MVN holds options for Maven, such as -o
// for offline.
func kotlinOf(t *testing.T, sources, class string, settings ...string) *exec.Cmd {
	t.Helper()
	bind, err := filepath.Abs(bound(t))
	if err != nil {
		t.Fatal(err)
	}
	build := t.TempDir()
	args := append(strings.Fields(os.Getenv("MVN")), "-q", "-B", "-f", "kotlin/pom.xml", "package",
		"-Dsources="+sources, "-Dzofl.build="+build,
		"-Dgobind.jar="+filepath.Join(bind, "gobind.jar"))
	if out, err := exec.Command("mvn", args...).CombinedOutput(); err != nil {
		t.Fatalf("mvn: %v\n%s", err, out)
	}
	path := filepath.Join(build, "classes") + ":" + filepath.Join(build, "libs", "*")
	args = []string{"-Xmx256m", "-Djava.library.path=" + bind, "-cp", path, class}
	return exec.Command("java", append(args, settings...)...)
}

// bystander starts a device in this process for which all parameters are equally good.
// finished returns its client when the run has ended.
func (l *lead) bystander() (finished func() *client.Client) {
	l.t.Helper()
	c, err := client.New(client.Config{
		Conn: l.site.connect("bystander"), Run: l.run, ID: "bystander",
		Columns: stats.Of([][]float32{{1, 100}, {3, 300}}),
		Objective: objective.Func(l.dim,
			func(context.Context, []float32, objective.Batch) (float64, error) { return 1, nil }),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	ended := make(chan struct{})
	l.all.Go(func() {
		defer close(ended)
		l.judge("bystander", c.Run(l.ctx))
	})
	return func() *client.Client {
		<-ended
		return c
	}
}

// TestKotlin trains digits with the Android example's own classes. The classes refuse servers that
// they do not trust. The test cancels them in the middle of a round, continues in a worker's
// session, and then asks for all losses of a step in one call. The device ends with the bits of a
// Go replica. Its model recognizes digits, as the device measured for the coordinator.
func TestKotlin(t *testing.T) {
	t.Parallel()
	bound(t)
	const rounds = 600
	p := testPlan(t, "digits", digitDim, 2, 2, rounds)
	p.StepSize, p.Perturbations, p.Steps, p.Batch = 0.1, 20, 1, 64
	p.Metrics, p.EvalEvery, p.EvalCount = []string{"accuracy", "loss"}, 25, 2
	p.Columns = 2
	p.Segments = []plan.Segment{{Name: "weights", Len: digitDim - 10}, {Name: "biases", Len: 10}}
	l := newSite(t).lead(p)
	finished := l.bystander()
	settings := l.device("phone", "block", map[string]any{
		"store": filepath.Join(t.TempDir(), l.run), "pin": pinOf(t, l.site.certificate()),
		"otherPin": pinOf(t, newAuthority(t).pem())})
	phone := kotlin(t, settings)

	if v := phone.next("codes"); v["unknown"] != "" || v["states"] != "" {
		t.Errorf("codes and states that core does not know: %v", v)
	}
	if v := phone.next("misbegun"); v["code"] != "config" ||
		!strings.HasPrefix(v["detail"].(string), "SetInitial: 3 parameters") {
		t.Errorf("three first parameters: %v, want them refused", v)
	}
	mistrust(t, phone)
	canceled := phone.next("canceled")
	contributed(t, canceled, 20)
	n := canceled["n"].(float64)
	if canceled["state"] != "STOPPED" || n < 20 || canceled["next"] != n {
		t.Errorf("canceled with %v, want state STOPPED, and the next client where this one was", canceled)
	}
	if v := phone.next("finished"); v["code"] != "stopped" {
		t.Errorf("run after cancellation: %v, want code stopped", v)
	}
	second := phone.next("second")
	if second["refused"] != "locked" || second["n"].(float64) < n {
		t.Errorf("two clients of a folder: %v, want the second locked out until the first "+
			"was canceled", second)
	}
	session := phone.next("session")
	if session["more"] != true || session["record"] != session["kept"] ||
		session["record"].(float64) < n {
		t.Errorf("a worker's session: %v, want its model kept and more to do", session)
	}
	loaded := phone.next("loaded")
	inOneCall(t, phone.next("batch"), p)
	end := phone.next("end")
	phone.done()
	l.agree(map[string]line{"phone": end}, []*client.Client{finished()})
	if told := l.toldBy("phone"); told != "digits 1.0" || end["wrong"] != 0.0 {
		t.Errorf("the coordinator knows the app as %q, and %v reads of float16 and int8 were wrong",
			told, end["wrong"])
	}
	if loaded["n"] != session["record"] || end["ended"] != true {
		t.Errorf("loaded %v, ended with %v", loaded, end)
	}
	if before, a := loaded["accuracy"].(float64), end["accuracy"].(float64); before == 0 || a < 0.5 {
		t.Errorf("accuracy %v, and %v when the model was loaded: want more than 0.5, and some", a, before)
	}
	if v := l.evaluation.Load(); v == nil || v.Samples != 400 || v.Metrics[0] < 0.3 ||
		v.Metrics[1] <= 0 || v.Metrics[1] > 2 {
		t.Errorf("the coordinator has the metrics %+v, want those of a model that has learned, "+
			"on 400 digits", v)
	}
	t.Log(canceled, session, loaded, end, l.evaluation.Load())
}

// mistrust checks that the phone refuses a server because of the server's key, and because of the
// platform's answer.
func mistrust(t *testing.T, phone *program) {
	t.Helper()
	for _, want := range [][2]string{
		{"mispinned", "no key of the server's certificates has a pin"},
		{"mistrusted", "1 of 127.0.0.1"},
	} {
		v, why := phone.next(want[0]), want[1]
		if detail, _ := v["detail"].(string); v["class"] != "Connection" || v["code"] != "tls" ||
			v["record"] != 0.0 || !strings.Contains(detail, why) {
			t.Errorf("%v, want it refused with code tls because of %q", v, why)
		}
	}
}

// inOneCall checks what the loss saw in one call for all points of a step: points that differ,
// however the loss reads them, segments by name, and the remaining time.
func inOneCall(t *testing.T, saw line, p *plan.Plan) {
	t.Helper()
	left, _ := saw["remaining"].(float64)
	if saw["probes"] != float64(p.Perturbations+1) && saw["probes"] != float64(2*p.Perturbations) {
		t.Errorf("a step had %v probes, with %d perturbations", saw["probes"], p.Perturbations)
	}
	if saw["compact"] != true {
		t.Error("a step's points as float16 or int8 are not the parameters rounded")
	}
	if saw["same"] != true || left < 1 || left > float64(p.Deadline) {
		t.Errorf("a step was %v, want the same parameters in both ways, and a time", saw)
	}
	if saw["biases"] != float64(digitDim-10) || saw["segments"] != 2.0 ||
		saw["names"] != "weights, biases" || saw["scaled"] != "1.0, 0.0" {
		t.Errorf("segments of a step and of the client: %v, want the plan's", saw)
	}
}
