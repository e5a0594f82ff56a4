package device

import (
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	plancost "github.com/zofl/zofl/plan/cost"
)

// A memoryCase is a kind of device, by the way in which the device evaluates the loss and moves
// the model.
type memoryCase struct {
	streaming bool // the loss reads blocks; otherwise a flat vector
	k         uint32
	momentum  bool
}

func (m memoryCase) String() string {
	way, rule := "flat", "SGD"
	if m.streaming {
		way = "block by block"
	}
	if m.momentum {
		rule = "momentum"
	}
	return fmt.Sprintf("%s, K=%d, %s", way, m.k, rule)
}

// vectors returns how many vectors of d floats the device holds, according to the plan's
// cost.
func (m memoryCase) vectors(p *plan.Plan) float64 {
	round := plancost.Of(p, plancost.Input{})
	bytes := round.Flat
	if m.streaming {
		bytes = round.Streaming
	}
	return float64(bytes) / float64(4*p.Dim)
}

// Memory measures Table 4 of DeComFL: the heap that coordinator and client hold after some
// rounds, as a function of d. The coordinator and the client keep their buffers after a round, so
// the heap after a round shows the heap used in the round.
func Memory() lab.Experiment {
	return lab.Experiment{
		ID: "decomfl-memory", Title: "memory of coordinator and client, in vectors of d",
		Paper: "DeComFL, appendix A.2 and Table 4", Long: "a minute",
		Do: func(t *lab.Trial) error { return memory(t, 1<<19, 1<<21) },
	}
}

var memoryCases = []memoryCase{{true, 1, false}, {false, 1, false}, {true, 1, true},
	{false, 1, true}, {true, 4, false}, {false, 4, true}}

func memory(t *lab.Trial, small, large int) error {
	r := t.Report
	r.Table.Columns = []string{"device", "d", "client_bytes", "coordinator_bytes"}
	r.Figure = chart.Chart{Title: "DeComFL: what a client holds", X: "d", Y: "bytes"}
	server := 0.0
	var clients []float64
	var texts []string
	priced := true
	for _, m := range memoryCases {
		a, err := held(t, m, small)
		if err != nil {
			return err
		}
		b, err := held(t, m, large)
		if err != nil {
			return err
		}
		grown := 4 * float64(large-small)
		got := (b.client - a.client) / grown
		server = max(server, (b.coordinator-a.coordinator)/grown)
		clients = append(clients, got)
		priced = priced && got < b.priced+0.05
		texts = append(texts, fmt.Sprintf("%v: %.3f d, priced %.3f d", m, got, b.priced))
		r.Figure.Lines = append(r.Figure.Lines,
			chart.Line{Name: m.String(),
				Points: []chart.Point{{X: float64(small), Y: a.client}, {X: float64(large), Y: b.client}}})
	}
	r.Claim(server < 0.01, "the server's memory is negligible, FedZO's 2d", "%.6f d at most", server)
	r.Claim(clients[0] < 1.05, "a client's memory is about d, FedZO's 3d",
		"%.3f d where the loss reads block by block", clients[0])
	r.Claim(priced, "no client holds more than its plan's price says", "%s", strings.Join(texts, "; "))
	return nil
}

// A holding is the heap that the client and the coordinator hold, in bytes, and the client's
// memory by package cost, in units of d.
type holding struct{ client, coordinator, priced float64 }

// held runs a coordinator and one client for three rounds and measures their heap.
func held(t *lab.Trial, m memoryCase, dim int) (h holding, err error) {
	t.Env.Say("decomfl-memory: %v, d=%d", m, dim)
	p, err := run.Plan("decomfl", "memory", 1, dim, 1, 1)
	if err != nil {
		return h, err
	}
	p.Rounds, p.Steps, p.Perturbations, p.Diverge = 3, m.k, 2, 0
	if m.momentum {
		p.Rule, p.Beta = plan.TorchMomentum, 0.9
	}
	h.priced = m.vectors(p)
	c, lead, err := pair(t.Ctx, m, p)
	if err != nil {
		return h, err
	}
	both := heap()
	runtime.KeepAlive(c)
	c = nil
	without := heap()
	runtime.KeepAlive(lead)
	lead = nil
	h.client, h.coordinator = both-without, without-heap()
	t.Report.Table.Add(m, dim, int64(h.client), int64(h.coordinator))
	return h, nil
}

// heap returns the bytes of the live heap: the least of several counts, because finalizers
// and pools release memory late, and the runtime's own memory counts too.
func heap() float64 {
	least := math.Inf(1)
	for range 4 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		least = min(least, float64(s.HeapAlloc))
	}
	return least
}
