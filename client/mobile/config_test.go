package mobile

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// bowl is a loss in simple mode: the squared norm.
type bowl struct{}

func (bowl) Loss(params []byte) (float64, error) {
	sum := 0.0
	for _, v := range getFloats(params) {
		sum += float64(v) * float64(v)
	}
	return sum, nil
}

// blockBowl is the loss of bowl in block mode.
type blockBowl struct{}

func (blockBowl) Loss(r *Round) (float64, error) {
	b := make([]byte, floatBytes*r.Dim())
	if _, err := r.ReadParams(0, b); err != nil {
		return 0, err
	}
	return bowl{}.Loss(b)
}

// config returns a Config with all that a client needs, and a server that does not exist.
func config() *Config {
	cfg := NewConfig()
	cfg.Run, cfg.Device, cfg.Dim, cfg.Plaintext = "digits", "phone-7", 10, true
	if err := cfg.AddServer("nats://127.0.0.1:1"); err != nil {
		panic(err)
	}
	cfg.SetObjective(bowl{})
	return cfg
}

// configAt returns config with a server at an address of this machine.
func configAt(t *testing.T, address string) *Config {
	t.Helper()
	cfg := config()
	cfg.servers = nil
	if err := cfg.AddServer("nats://" + address); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// For every mistake in a Config the error has the field, the value and the remedy.
func TestConfigRefuses(t *testing.T) {
	server := func(address string) func(*Config) error {
		return func(c *Config) error { return c.AddServer(address) }
	}
	only := func(address string) func(*Config) error {
		return func(c *Config) error { c.servers = nil; return c.AddServer(address) }
	}
	for name, tt := range map[string]struct {
		edit func(*Config) error
		code string
		says []string
	}{
		"no objective": {func(c *Config) error { c.SetObjective(nil); return nil }, CodeConfig,
			[]string{"objective", "SetObjective"}},
		"no dim": {func(c *Config) error { c.Dim = 0; return nil }, CodeConfig,
			[]string{"Dim = 0", "give"}},
		"negative dim": {func(c *Config) error { c.Dim = -1; return nil }, CodeConfig,
			[]string{"Dim = -1", "give"}},
		"huge dim": {func(c *Config) error { c.Dim = math.MaxInt/4 + 1; return nil },
			CodeConfig, []string{"Dim = ", "give at most"}},
		"no run": {func(c *Config) error { c.Run = ""; return nil }, CodeConfig, []string{"Run"}},
		"bad run": {func(c *Config) error { c.Run = "a b"; return nil }, CodeConfig,
			[]string{"Run", `a b`}},
		"bad device": {func(c *Config) error { c.Device = "a.b"; return nil }, CodeConfig,
			[]string{"Device", "a.b"}},
		"long device": {func(c *Config) error { c.Device = strings.Repeat("d", 33); return nil },
			CodeConfig, []string{"Device", "32"}},
		"samples": {func(c *Config) error { c.Samples = -2; return nil }, CodeConfig,
			[]string{"Samples = -2", "give"}},
		"workers": {func(c *Config) error { c.Workers = -2; return nil }, CodeConfig,
			[]string{"Workers = -2", "give"}},
		"about": {func(c *Config) error { c.About = "Küche 1"; return nil }, CodeConfig,
			[]string{"About: ", "ASCII"}},
		"batch": {func(c *Config) error { c.MaxBatch = -1; return nil }, CodeConfig,
			[]string{"MaxBatch = -1", "give"}},
		"memory": {func(c *Config) error { c.MemoryLimit = -1; return nil }, CodeConfig,
			[]string{"MemoryLimit = -1", "bytes"}},
		"battery": {func(c *Config) error { c.MinBattery = 101; return nil }, CodeConfig,
			[]string{"MinBattery = 101", "0 to 100"}},
		"empty battery": {func(c *Config) error { c.MinBattery = -1; return nil }, CodeConfig,
			[]string{"MinBattery = -1", "0 to 100"}},
		"no server": {func(c *Config) error { c.servers = nil; return nil }, CodeConfig,
			[]string{"server", "AddServer"}},
		"initial": {func(c *Config) error { return c.SetInitial(make([]byte, 44)) }, CodeConfig,
			[]string{"SetInitial", "11", "Dim = 10"}},
		"initial of 41 bytes": {
			func(c *Config) error { return c.SetInitial(make([]byte, 41)) }, CodeConfig,
			[]string{"SetInitial", "41 bytes", "give 4"}},
		"empty initial": {func(c *Config) error { return c.SetInitial(nil) }, CodeConfig,
			[]string{"SetInitial", "0 bytes"}},
		"short run key": {func(c *Config) error { return c.SetRunKey(make([]byte, 31)) }, CodeConfig,
			[]string{"RunKey", "31 bytes", "32"}},
		"empty run key": {func(c *Config) error { return c.SetRunKey(nil) }, CodeConfig,
			[]string{"SetRunKey", "32"}},
		"CA": {func(c *Config) error { return c.SetCA("no certificate") }, CodeConfig,
			[]string{"SetCA", "14 bytes", "BEGIN CERTIFICATE"}},
		"server without a host": {server("tls://"), CodeConfig,
			[]string{"AddServer", `"tls://"`, "give"}},
		"server without scheme": {server("zofl.example.org"), CodeConfig,
			[]string{"AddServer", "zofl.example.org", "tls://"}},
		"server by http": {server("http://zofl.example.org"), CodeConfig,
			[]string{"AddServer", `"http"`, "tls://"}},
		"server garbage": {server("tls://[::1"), CodeConfig, []string{"AddServer", "tls://[::1"}},
		"server with a user": {server("tls://me:secret@h:4222"), CodeConfig,
			[]string{"AddServer", "SetCredentials"}},
		"server with a token": {server("tls://secret@h:4222"), CodeConfig,
			[]string{"AddServer", "tls://h:4222", "SetCredentials"}},
		"server, bad password": {server("tls://me:secret%zz@h:4222"), CodeConfig,
			[]string{"AddServer", "@h:4222", "give"}},
		"server, odd password": {server("tls://me:12/secret@h:4222"), CodeConfig,
			[]string{"AddServer", "tls://me:12", "path"}},
		"server with a path": {server("nats://h:4222/secret"), CodeConfig,
			[]string{"AddServer", "give nats://h:4222"}},
		"server with a query": {server("tls://h?secret=1"), CodeConfig,
			[]string{"AddServer", "give tls://h"}},
		"a query in plaintext": {only("ws://192.0.2.1/zofl?secret=1"), CodeInsecure,
			[]string{"ws://192.0.2.1 "}},
		"a query of two kinds": {server("ws://127.0.0.1/?secret=1"), CodeConfig,
			[]string{"ws://127.0.0.1 "}},
		"server without port": {server("tls://h:0"), CodeConfig, []string{"AddServer", "tls://h:0"}},
		"server, large port": {server("tls://h:65536"), CodeConfig,
			[]string{"AddServer", "tls://h:65536"}},
		"servers of two kinds": {server("ws://127.0.0.1:80"), CodeConfig,
			[]string{"AddServer", "nats://127.0.0.1:1", "ws://127.0.0.1:80", "wss://"}},
		"plaintext to a host": {server("nats://zofl.example.org"), CodeInsecure,
			[]string{"zofl.example.org", "Plaintext", "127.0.0.1"}},
		"plaintext to an IP": {server("nats://192.0.2.1:4222"), CodeInsecure,
			[]string{"192.0.2.1", "127.0.0.1"}},
		"plaintext websocket": {only("ws://192.0.2.1:4222"), CodeInsecure, []string{"192.0.2.1"}},
		"plaintext to any":    {server("nats://0.0.0.0:4222"), CodeInsecure, []string{"0.0.0.0"}},
		"plaintext to a subdomain": {server("nats://localhost.example.org"), CodeInsecure,
			[]string{"localhost.example.org"}},
		"ws without Plaintext": {func(c *Config) error {
			c.Plaintext = false
			return only("ws://127.0.0.1:80")(c)
		}, CodeInsecure,
			[]string{"ws://127.0.0.1:80", "wss://", "Plaintext"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			err := tt.edit(cfg)
			if err == nil {
				_, err = NewClient(cfg)
			}
			if err == nil {
				t.Fatal("accepted")
			}
			if code := ErrorCode(err.Error()); code != tt.code {
				t.Errorf("%q has code %q, want %q", err, code, tt.code)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "client: ") {
				t.Errorf("%q says too much", err)
			}
		})
	}
}

// A Config accepts addresses of this machine with Plaintext, and any other addresses with TLS.
func TestConfigTakesServers(t *testing.T) {
	for address, plaintext := range map[string]bool{
		"nats://127.0.0.1:4222": true, "nats://localhost": true, "nats://[::1]:4222": true,
		"ws://127.0.0.1:8080": true,
		"nats://127.3.2.1":    true, "tls://127.0.0.1": true,
		"tls://zofl.example.org:4222": false, "wss://zofl.example.org": false,
		"wss://zofl.example.org/nats?a=b": false, "tls://zofl.example.org/": false,
		"nats://zofl.example.org": false,
	} {
		cfg := config()
		cfg.servers, cfg.Plaintext = nil, plaintext
		if err := cfg.AddServer(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := NewClient(cfg); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// If NewClient refuses a Config, the Config keeps the app's objects, and the app can use it again.
// If NewClient makes a client, the client has the objects.
func TestCallbacksMove(t *testing.T) {
	cfg := config()
	cfg.SetEvaluator(evaluator(func(*Evaluation) error { return nil }))
	cfg.SetListener(&listener{})
	for _, bad := range []func(){
		func() { cfg.Dim = 0 },      // refused by this package
		func() { cfg.Run = "a b" },  // refused by package client
		func() { cfg.Workers = -1 }, // refused by package client
		func() { cfg.Samples = -1 }, // refused by this package
		func() { cfg.runKey = nil; cfg.runKey = make([]byte, 3) },
	} {
		bad()
		if _, err := NewClient(cfg); err == nil {
			t.Fatal("accepted")
		}
		if cfg.callbacks.whole == nil || cfg.callbacks.evaluator == nil || cfg.listener == nil {
			t.Fatal("the Config lost its callbacks")
		}
		cfg.Dim, cfg.Run, cfg.Workers, cfg.Samples, cfg.runKey = 10, "digits", 0, 0, nil
	}
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.callbacks.whole != nil || cfg.callbacks.evaluator != nil || cfg.listener != nil {
		t.Error("the Config still has callbacks")
	}
	if c.device.whole == nil || c.device.evaluator == nil || c.events.listener == nil {
		t.Error("the client has no callbacks")
	}
	if _, err := NewClient(cfg); err == nil ||
		!strings.Contains(err.Error(), "a Config makes one client") {
		t.Errorf("a second client: %v", err)
	}
	c.Stop()
	if c.device.whole != nil || c.device.evaluator != nil || c.events.listener != nil {
		t.Error("the client still has callbacks after Stop")
	}
}

// If Workers exceeds the number of cores, the client uses one thread per core, because each thread
// takes memory.
func TestConfigBoundsWorkers(t *testing.T) {
	cfg := config()
	cfg.Workers = 1000 * runtime.NumCPU()
	if n := cfg.workers(); n != runtime.NumCPU() {
		t.Errorf("%d workers, want one a core", n)
	}
	cfg.Workers = math.MaxInt32
	made(t, cfg).Stop()
}

// The two modes exclude each other: the last objective set counts.
func TestOneObjective(t *testing.T) {
	cfg := config()
	cfg.SetBlockObjective(blockBowl{})
	if cfg.callbacks.whole != nil || cfg.callbacks.byBlocks == nil {
		t.Error("SetBlockObjective did not replace SetObjective's")
	}
	cfg.SetObjective(bowl{})
	if cfg.callbacks.whole == nil || cfg.callbacks.byBlocks != nil {
		t.Error("SetObjective did not replace SetBlockObjective's")
	}
}

// A Config copies the bytes that the app passes, and Device may be as long as documented.
func TestConfigCopies(t *testing.T) {
	cfg, key, initial := config(), make([]byte, 32), littleEndianOf([]float32{1, 2, 3})
	if err := cfg.SetRunKey(key); err != nil {
		t.Fatal(err)
	}
	if err := cfg.SetInitial(initial); err != nil {
		t.Fatal(err)
	}
	key[0], initial[0] = 1, 1
	if cfg.runKey[0] != 0 || cfg.initial[0] != 1 ||
		math.Float32bits(cfg.initial[1]) != math.Float32bits(2) {
		t.Error("the Config shares the app's memory")
	}
	if err := plan.CheckName(strings.Repeat("d", 32)); err != nil {
		t.Errorf("the documented 32 letters of Device: %v", err)
	}
}
