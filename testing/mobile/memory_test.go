package mobile

import "testing"

// TestMemory runs a program in block mode whose heap has no room for the model. Calls that would
// need an array of the model's size fail or return null, and the process continues, also with a
// full heap.
func TestMemory(t *testing.T) {
	t.Parallel()
	bound(t)
	const large, most = 10 << 20, 1 << 20 // 40 MiB in a heap of 24; mobile.MaxBlock
	s := newSite(t)
	for name, dim := range map[string]int{"large": large, "full": most} {
		p := testPlan(t, name, dim, 2, 1, 0)
		p.Deadline, p.Perturbations = 120_000, 1
		s.lead(p).companions(1)
	}
	settings := s.way()
	settings["dim"] = large
	p := java(t, "Memory", settings, "-Xmx24m", "-XX:+UseSerialGC")
	for _, want := range []line{
		stopped(line{"case": "large", "simple": "config", "contributed": true, "model": true,
			"block": 4.0 * most, "record": true, "read": 1.0 * large}),
		stopped(line{"case": "full", "contributed": true, "seen": true,
			"fault": "*java.lang.IllegalStateException: no room for the parameters*"}),
	} {
		got := p.next("case")
		t.Log(got)
		for key, value := range want {
			if !matches(got[key], value) {
				t.Errorf("%s: %s is %v, want %v", want["case"], key, got[key], value)
			}
		}
	}
	p.done()
}
