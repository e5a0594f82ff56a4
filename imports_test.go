package zofl_test

import (
	"slices"
	"strings"
	"testing"
)

// allowed has the packages that a package may import beside the standard library. A
// name that ends in /... includes the packages below it.
var allowed = map[string][]string{
	"prng":              {module + "/internal/isa", module + "/prng"},
	"prng/lowrank":      {module + "/prng", module + "/internal/isa"},
	"mathx":             {module + "/internal/isa"},
	"internal/isa":      {module + "/internal/isa/..."},
	"internal/parallel": {},
	"internal/half":     {},
	// The plan itself knows no frame: package wire imports it.
	"plan": {
		module + "/stats",
		module + "/plan/...", module + "/wire/...", module + "/prng", module + "/mathx",
		module + "/internal/codec", module + "/wire/compact", module + "/internal/dpnoise",
		module + "/internal/half", module + "/internal/footprint", module + "/internal/grouping",
		module + "/internal/perclass",
		module + "/wire/secagg", module + "/internal/subjects", module + "/internal/textfile",
	},
	// What a device says of its data, and the scale that follows.
	"stats": {module + "/plan"},
	"wire": {
		module + "/prng", module + "/plan", module + "/stats", module + "/wire/...",
		module + "/internal/codec",
		module + "/internal/dpnoise",
	},
	// The codec knows no frame.
	"internal/codec": {"github.com/vmihailenco/msgpack/v5/msgpcode"},

	"bus":               {module + "/bus/...", "github.com/nats-io/nats.go/..."},
	"internal/disk":     {module + "/internal/disk/..."},
	"internal/dirstore": {module + "/internal/disk/..."},
	"internal/memstore": {},
	"internal/share":    {},
	"client":            shellImports("client"),
	"internal/seam":     {module + "/internal/disk", module + "/coordinator/runlog"},
	"coordinator":       append(shellImports("coordinator"), module+"/internal/seam"),
	// A fleet is a program as a library: it has both sides, and neither has it.
	"fleet": {
		module + "/client", module + "/client/objective", module + "/client/replica",
		module + "/coordinator", module + "/coordinator/report", module + "/coordinator/runlog",
		module + "/bus", module + "/prng", module + "/wire/...", module + "/plan/...",
		module + "/fleet/...", module + "/wire/compact", module + "/internal/grouping",
		module + "/internal/subjects", module + "/internal/memstore",
	},
	"fleet/traffic": {
		module + "/bus", module + "/plan", module + "/wire", module + "/wire/compact",
		module + "/wire/survey",
	},
	"fleet/tune": {
		module + "/client/objective", module + "/client/replica", module + "/fleet", module + "/prng",
		module + "/wire/...", module + "/plan/...", module + "/internal/grouping",
	},
	// What a client is made of: the prober sees no network and no store, the follower and
	// the outbox do not see the app's loss.
	"client/objective": {},
	"client/internal/probe": {
		module + "/prng", module + "/mathx/...", module + "/plan", module + "/wire",
		module + "/wire/survey", module + "/internal/surrogate", module + "/internal/grouping",
		module + "/internal/perclass", module + "/client/objective", module + "/client/replica",
		module + "/client/internal/memlimit", module + "/client/internal/directional",
		module + "/client/internal/isolate", module + "/client/internal/localrule",
	},
	"client/internal/isolate":   {},
	"client/internal/localrule": {module + "/plan", module + "/wire"},
	"client/internal/directional": {
		module + "/prng", module + "/mathx", module + "/plan", module + "/wire",
		module + "/internal/parallel", module + "/client/replica",
	},
	"client/internal/follow": {
		module + "/plan", module + "/wire", module + "/wire/compact", module + "/plan/valid",
		module + "/client/replica", module + "/client/internal/retry", module + "/client/internal/seal",
		module + "/client/internal/files", module + "/bus", module + "/wire/signed",
	},
	"client/internal/link": {
		module + "/plan", module + "/wire", module + "/wire/deviceinfo", module + "/wire/signed",
		module + "/internal/subjects", module + "/client/internal/follow",
		module + "/client/internal/verify", module + "/client/internal/retry",
		module + "/client/internal/notify", module + "/bus",
	},
	"client/internal/outbox": {
		module + "/plan", module + "/wire", module + "/wire/survey", module + "/internal/grouping",
		module + "/wire/secagg", module + "/client/internal/retry",
		module + "/client/internal/files",
	},
	"client/internal/secagg": {
		module + "/plan", module + "/wire", module + "/wire/secagg",
		module + "/client/internal/retry",
	},
	"client/internal/files":  {module + "/plan", module + "/wire"},
	"client/internal/seal":   {},
	"client/internal/notify": {module + "/wire/deviceinfo"},
	// A log needs the contract, and what it stores to; neither a round nor another log.
	"coordinator/runlog": {
		module + "/wire/...", module + "/plan/...", module + "/coordinator/runlog",
		module + "/internal/grouping",
	},
	"coordinator/filelog": {
		module + "/plan", module + "/wire", module + "/coordinator/runlog", module + "/internal/disk",
		module + "/internal/seam", module + "/coordinator/internal/roster",
	},
	"coordinator/jetlog": {
		module + "/plan", module + "/wire", module + "/coordinator/runlog",
		module + "/internal/subjects", module + "/coordinator/internal/roster",
		"github.com/nats-io/nats.go/...",
	},
	"coordinator/internal/roster": {
		module + "/plan", module + "/wire", module + "/coordinator/runlog",
	},
	"coordinator/report": {
		module + "/plan", module + "/wire", module + "/wire/survey", module + "/plan/dp",
		module + "/wire/deviceinfo", module + "/coordinator/runlog",
	},
	"coordinator/internal/engine": {
		module + "/plan", module + "/wire", module + "/wire/compact", module + "/internal/subjects",
		module + "/plan/plancheck", module + "/plan/valid", module + "/internal/grouping",
		module + "/mathx", module + "/prng", module + "/coordinator/report",
		module + "/coordinator/runlog",
		module + "/coordinator/internal/gather", module + "/coordinator/internal/catchup",
		module + "/coordinator/internal/digests", module + "/coordinator/internal/aggregate",
		module + "/coordinator/internal/policy", module + "/coordinator/internal/quorum",
		module + "/coordinator/internal/presence", module + "/wire/survey", module + "/plan/dp",
		module + "/coordinator/internal/logindex", module + "/coordinator/internal/contribution",
		module + "/coordinator/internal/cohort", module + "/coordinator/internal/loss",
		module + "/coordinator/internal/uploads", module + "/coordinator/internal/late",
		module + "/coordinator/internal/evaluation",
	},
	"coordinator/internal/quorum":  {},
	"coordinator/internal/loss":    {module + "/plan", module + "/wire", module + "/mathx"},
	"coordinator/internal/uploads": {module + "/wire"},
	"coordinator/internal/late": {
		module + "/plan", module + "/wire", module + "/prng", module + "/coordinator/runlog",
		module + "/coordinator/internal/gather", module + "/coordinator/internal/presence",
	},
	"coordinator/internal/evaluation": {
		module + "/plan", module + "/wire", module + "/coordinator/report",
		module + "/coordinator/internal/gather", module + "/coordinator/internal/presence",
	},
	"coordinator/internal/cohort": {
		module + "/plan", module + "/wire", module + "/wire/deviceinfo",
		module + "/coordinator/report", module + "/coordinator/runlog",
		module + "/coordinator/internal/gather", module + "/coordinator/internal/policy",
		module + "/coordinator/internal/participation", module + "/coordinator/internal/presence",
	},
	"coordinator/internal/participation": {module + "/coordinator/report"},
	// What the engine asks of policies, and which policies a plan has.
	"coordinator/internal/policy": {
		module + "/plan", module + "/wire", module + "/wire/survey", module + "/coordinator/report",
		module + "/coordinator/runlog", module + "/coordinator/internal/aggregate",
		module + "/coordinator/internal/presence", module + "/coordinator/internal/quorum",
	},
	"coordinator/internal/policies": {
		module + "/plan", module + "/stats", module + "/wire", module + "/wire/survey",
		module + "/internal/grouping",
		module + "/wire/secagg", module + "/coordinator/runlog",
		module + "/coordinator/internal/aggregate", module + "/coordinator/internal/grouping",
		module + "/coordinator/internal/policy", module + "/coordinator/internal/stepsize",
		module + "/coordinator/internal/cma",
		module + "/coordinator/internal/secagg", module + "/coordinator/internal/median",
	},
	// What a record makes of contributions: no clock, cohort, attempt or network.
	"coordinator/internal/aggregate": {
		module + "/plan", module + "/wire", module + "/internal/dpnoise",
		module + "/internal/grouping", module + "/prng",
		module + "/coordinator/internal/gather", module + "/coordinator/internal/robust",
		module + "/coordinator/internal/median",
		module + "/coordinator/internal/perclass", module + "/coordinator/internal/grouping",
		module + "/coordinator/internal/loss", module + "/coordinator/internal/late",
		module + "/wire/survey",
	},
	"coordinator/internal/contribution": {
		module + "/plan", module + "/stats", module + "/wire", module + "/wire/survey",
		module + "/coordinator/report",
		module + "/coordinator/internal/gather", module + "/coordinator/internal/perclass",
	},
	"coordinator/internal/logindex": {
		module + "/coordinator/internal/catchup", module + "/coordinator/runlog", module + "/wire",
	},
	"coordinator/internal/secagg": {
		module + "/plan", module + "/wire", module + "/wire/secagg",
		module + "/coordinator/report",
		module + "/coordinator/internal/presence", module + "/coordinator/internal/policy",
		module + "/coordinator/internal/quorum",
	},
	"coordinator/internal/perclass": {
		module + "/plan", module + "/wire", module + "/internal/perclass",
		module + "/internal/grouping", module + "/prng", module + "/coordinator/internal/gather",
	},
	"coordinator/internal/cma": {
		module + "/coordinator/internal/loss",
		module + "/plan", module + "/wire", module + "/wire/survey", module + "/coordinator/runlog",
		module + "/coordinator/internal/policy", module + "/coordinator/internal/median",
	},
	"coordinator/internal/stepsize": {
		module + "/plan", module + "/wire", module + "/wire/survey", module + "/coordinator/runlog",
	},
	// It sees no frame: who is in which group is the coordinator's business.
	"coordinator/internal/grouping": {
		module + "/plan", module + "/wire", module + "/internal/grouping", module + "/wire/survey",
		module + "/coordinator/report", module + "/prng", module + "/coordinator/internal/stepsize",
	},
	"coordinator/internal/digests": {
		module + "/plan", module + "/wire", module + "/coordinator/report",
	},
	"coordinator/internal/gather": {
		module + "/plan", module + "/wire", module + "/mathx", module + "/prng",
	},
	"coordinator/internal/presence": {
		module + "/plan", module + "/wire", module + "/wire/deviceinfo", module + "/internal/grouping",
		module + "/wire/survey", module + "/coordinator/report", module + "/coordinator/runlog",
	},
	"coordinator/internal/median": {},
	"coordinator/internal/robust": {module + "/plan", module + "/wire", module + "/mathx",
		module + "/coordinator/internal/median"},
	"coordinator/internal/keepalive": {module + "/plan", module + "/wire", module + "/bus"},
	"coordinator/internal/leader": {
		module + "/internal/leader", module + "/internal/subjects", module + "/bus",
	},
	"coordinator/internal/signer":    {module + "/plan", module + "/wire", module + "/wire/signed"},
	"coordinator/internal/ratelimit": {module + "/coordinator/report"},
	"coordinator/internal/catchup": {
		module + "/coordinator/internal/ratelimit", module + "/plan", module + "/wire",
		module + "/wire/compact", module + "/internal/subjects", module + "/wire/signed",
		module + "/bus", module + "/coordinator/runlog", module + "/internal/share",
	},
}

// impure are packages that a deterministic one does not import.
var impure = []string{"context", "crypto/rand", "math/rand", "math/rand/v2", "net", "os", "sync",
	"sync/atomic", "time"}

// TestPure: what rounds are made of knows no clock, goroutine, chance or file.
func TestPure(t *testing.T) {
	for _, dir := range []string{"coordinator/internal/engine", "coordinator/internal/gather",
		"coordinator/internal/digests", "coordinator/internal/stepsize", "coordinator/internal/cma",
		"coordinator/internal/grouping", "coordinator/internal/robust",
		"coordinator/internal/presence", "coordinator/internal/secagg",
		"coordinator/internal/contribution", "coordinator/internal/perclass",
		"coordinator/internal/aggregate", "coordinator/internal/quorum",
		"coordinator/internal/cohort", "coordinator/internal/loss", "coordinator/internal/uploads",
		"coordinator/internal/participation",
		"coordinator/internal/late", "coordinator/internal/evaluation",
		"coordinator/internal/policy", "coordinator/internal/policies"} {
		for _, file := range sourceFiles(t, dir) {
			for _, name := range importsOf(t, file) {
				if slices.Contains(impure, name) {
					t.Errorf("%s imports %s", file, name)
				}
			}
		}
	}
}

// shellImports returns the packages that client and coordinator may import: shared ones
// and those below themselves, but never each other, and no simulated disk.
func shellImports(own string) []string {
	return []string{
		module + "/prng/...", module + "/mathx/...", module + "/wire/...", module + "/plan/...",
		module + "/stats",
		module + "/wire/compact", module + "/internal/dpnoise", module + "/internal/footprint",
		module + "/internal/grouping", module + "/internal/leader", module + "/internal/perclass",
		module + "/wire/secagg", module + "/internal/subjects",
		module + "/internal/surrogate", module + "/internal/share",
		module + "/bus/...", module + "/internal/disk",
		module + "/internal/dirstore", module + "/internal/parallel", module + "/internal/half",
		module + "/" + own + "/...",
		"github.com/nats-io/nats.go/...",
	}
}

// All files count here, whatever their build constraints; only tests may import more.
func TestImports(t *testing.T) {
	for dir, may := range allowed {
		for _, file := range sourceFiles(t, dir) {
			for _, name := range importsOf(t, file) {
				if !mayImport(may, name) {
					t.Errorf("%s imports %s, want the standard library and %v", file, name, may)
				}
			}
		}
	}
}

func mayImport(may []string, name string) bool {
	first, _, _ := strings.Cut(name, "/")
	if !strings.Contains(first, ".") {
		return name != "C"
	}
	return slices.ContainsFunc(may, func(pattern string) bool {
		prefix, below := strings.CutSuffix(pattern, "/...")
		return name == prefix || below && strings.HasPrefix(name, prefix+"/")
	})
}
