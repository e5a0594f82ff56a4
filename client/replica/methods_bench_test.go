package replica

import "testing"

// benchMethods have 10 terms a record.
var benchMethods = []struct{ name, settings string }{
	{"decomfl", `{"dim":28938,"perturbations":10}`},
	{"momentum", `{"dim":28938,"perturbations":10,"rule":"momentum","beta":0.9}`},
	{"signs", `{"dim":28938,"perturbations":10,"distribution":"rademacher"}`},
	{"sphere", `{"dim":28938,"perturbations":10,"distribution":"sphere"}`},
	{"amsgrad", `{"dim":28938,"perturbations":10,"server_rule":"amsgrad","server_step":0.02,` +
		`"server_beta1":0.9,"server_beta2":0.99,"server_epsilon":1e-8}`},
	{"subspace", `{"dim":28938,"perturbations":10,"distribution":"subspace","subspace_moves":5,` +
		`"subspace_share":0.5}`},
	{"prox", `{"dim":28938,"steps":2,"perturbations":5,"prox":1}`},
	{"scaffold-1", `{"dim":28938,"steps":2,"perturbations":5,"control":"scaffold-1"}`},
	{"scaffold-2", `{"dim":28938,"steps":2,"perturbations":5,"control":"scaffold-2"}`},
	{"pool", `{"dim":28938,"perturbations":10,"pool":4096,"rebase":64}`},
}

// BenchmarkMethods applies 64 rounds of 10 terms at once to a model of 28,938 parameters. The
// rounds of the scaffold methods also have the terms of corrections.
func BenchmarkMethods(b *testing.B) {
	for _, m := range benchMethods {
		b.Run(m.name, func(b *testing.B) {
			s := newScript(planOf(b, m.settings))
			r := New(s.cfg)
			if err := r.Apply(s.records[0]); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for round := uint64(0); b.Loop(); {
				b.StopTimer()
				s.records = s.records[:0]
				for range 64 {
					round++
					s.round(round)
				}
				b.StartTimer()
				if n, err := r.ApplyAll(s.records); err != nil {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(28938*10*64*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}
